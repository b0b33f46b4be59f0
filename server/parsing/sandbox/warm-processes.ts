/**
 * Keeps a process ready that has loaded what recognises pages, which takes about as long as half a page. Once a file is
 * read, the process for the next is prepared: earlier it would take the processor from the reading. Like every reader it
 * reads one file and ends, so that nothing of a document can reach another.
 */
import { type ChildProcessWithoutNullStreams } from 'node:child_process'
import { type BackgroundThrottle } from '#server/base/background-throttling.ts'
import { isPicture, type ReaderWish, startReader } from './parser-process.ts'

export interface ReadyReaders {
  /** A process that has read nothing yet, ready where one is. Whoever takes it ends it. */
  take(wish: ReaderWish): ChildProcessWithoutNullStreams
  stop(): void
}

interface ReadyReader {
  readonly child: ChildProcessWithoutNullStreams
  /** Leaves it to another. */
  readonly release: () => void
  readonly end: () => void
}

/** A process that nobody needs gives its memory back. */
const IDLE_MS = 60_000

/** Processes with the same rights and limits stand in for each other, whatever languages they have loaded first. */
const kindOf = ({ mimetype, limits }: ReaderWish): string =>
  `${isPicture(mimetype) ? 'picture' : mimetype} ${limits.heapMegabytes}`

interface ReadyReadersOptions {
  /** How long a process waits for a file. */
  readonly idleMs?: number
  /** Whoever waits for an answer goes before all of them. */
  readonly backgroundThrottle?: BackgroundThrottle
}

export function createReadyReaders({ idleMs = IDLE_MS, backgroundThrottle }: ReadyReadersOptions = {}): ReadyReaders {
  const ready = new Map<string, ReadyReader>()
  let isStopped = false

  function prepare(kind: string, wish: ReaderWish): void {
    const child = startReader(wish, { isReady: true, backgroundThrottle })
    // One that cannot start, or is ended by the system, leaves its place empty: the next file starts its own.
    const release = () => {
      clearTimeout(timer)
      ready.delete(kind)
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
    ready.set(kind, { child, release, end })
  }

  return {
    take(wish) {
      if (wish.recognises === undefined) return startReader(wish, { backgroundThrottle })
      const kind = kindOf(wish)
      const found = ready.get(kind)
      found?.release()
      const child = found?.child ?? startReader(wish, { backgroundThrottle })
      child.once('close', () => {
        if (!isStopped && !ready.has(kind)) prepare(kind, wish)
      })
      return child
    },
    stop() {
      isStopped = true
      for (const { end } of ready.values()) end()
    },
  }
}
