/** Keeps a process with loaded OCR, which takes as long as half a page, for one file: no document reaches another. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { BackgroundThrottle } from '#server/base/background-throttling.ts'
import { signalConfined } from './confinement.ts'
import { isImage, type ParserSpec, startParser } from './parser-process.ts'

export interface WarmParsers {
  take(wish: ParserSpec): ChildProcessWithoutNullStreams
  stop(): void
}

interface WarmParser {
  readonly child: ChildProcessWithoutNullStreams
  readonly release: () => void
  readonly end: () => void
}

const IDLE_MS = 60_000

/** Processes with equal permissions and limits are interchangeable, whatever languages they loaded. */
const kindOf = ({ mimetype, limits }: ParserSpec): string =>
  `${isImage(mimetype) ? 'picture' : mimetype} ${limits.heapMegabytes}`

interface WarmParsersOptions {
  readonly idleMs?: number
  readonly backgroundThrottle?: BackgroundThrottle
}

export function createWarmParsers({ idleMs = IDLE_MS, backgroundThrottle }: WarmParsersOptions = {}): WarmParsers {
  const warm = new Map<string, WarmParser>()
  let isStopped = false

  function start(kind: string, wish: ParserSpec): void {
    const child = startParser(wish, { isWarm: true, backgroundThrottle })
    // After a failed start or an exit the next file starts its own process.
    const release = () => {
      clearTimeout(timer)
      warm.delete(kind)
      child.off('exit', release)
      child.off('error', release)
    }
    const end = () => {
      release()
      signalConfined(child, 'SIGKILL')
    }
    const timer = setTimeout(end, idleMs)
    child.on('exit', release)
    child.on('error', release)
    warm.set(kind, { child, release, end })
  }

  return {
    take(wish) {
      if (wish.ocrLanguages === undefined) return startParser(wish, { backgroundThrottle })
      const kind = kindOf(wish)
      const found = warm.get(kind)
      found?.release()
      const child = found?.child ?? startParser(wish, { backgroundThrottle })
      // Only after the file ends, so that the two do not compete.
      child.once('close', () => {
        if (!isStopped && !warm.has(kind)) start(kind, wish)
      })
      return child
    },
    stop() {
      isStopped = true
      for (const { end } of warm.values()) end()
    },
  }
}
