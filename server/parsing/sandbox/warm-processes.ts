/**
 * Keeps a process ready that has loaded what recognises pages, which takes about as long as half a page. Once a file is
 * read, the process for the next is prepared: earlier it would take the processor from the reading. Like every reader it
 * reads one file and ends, so that nothing of a document can reach another.
 */
import { type ChildProcessWithoutNullStreams } from 'node:child_process'
import { type BackgroundThrottle } from '#server/base/background-throttling.ts'
import { isImage, type ParserSpec, startParser } from './parser-process.ts'

export interface WarmParsers {
  /** A process that has read nothing yet, ready where one is. Whoever takes it ends it. */
  take(wish: ParserSpec): ChildProcessWithoutNullStreams
  stop(): void
}

interface WarmParser {
  readonly child: ChildProcessWithoutNullStreams
  /** Leaves it to another. */
  readonly release: () => void
  readonly end: () => void
}

/** A process that nobody needs gives its memory back. */
const IDLE_MS = 60_000

/** Processes with the same rights and limits stand in for each other, whatever languages they have loaded first. */
const kindOf = ({ mimetype, limits }: ParserSpec): string =>
  `${isImage(mimetype) ? 'picture' : mimetype} ${limits.heapMegabytes}`

interface WarmParsersOptions {
  /** How long a process waits for a file. */
  readonly idleMs?: number
  /** Whoever waits for an answer goes before all of them. */
  readonly backgroundThrottle?: BackgroundThrottle
}

export function createWarmParsers({ idleMs = IDLE_MS, backgroundThrottle }: WarmParsersOptions = {}): WarmParsers {
  const warm = new Map<string, WarmParser>()
  let isStopped = false

  function start(kind: string, wish: ParserSpec): void {
    const child = startParser(wish, { isWarm: true, backgroundThrottle })
    // One that cannot start, or is ended by the system, leaves its place empty: the next file starts its own.
    const release = () => {
      clearTimeout(timer)
      warm.delete(kind)
      child.off('exit', release)
      child.off('error', release)
    }
    const end = () => {
      release()
      child.kill('SIGKILL')
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
