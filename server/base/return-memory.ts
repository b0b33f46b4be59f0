/**
 * Returns memory to the system once the process is quiet. V8 alone keeps free pages between live objects, and the code of
 * functions that ran once, for as long as little is allocated.
 */
import { openCollector } from './garbage-collector.ts'
import { repeat } from './repeat.ts'

const WINDOW_MS = 10_000
const QUIET_WINDOWS = 3
/** Share of a window. Timers alone take less than a hundredth. */
const MAX_BUSY_SHARE = 0.05
/** A collection stops the thread for 30 ms or more, so it must be worth it. */
const MIN_GROWTH_BYTES = 32_000_000

export interface MemoryReturnOptions {
  readonly readResidentBytes?: () => number
  /** Time for which the thread has worked, in milliseconds. */
  readonly readBusyMs?: () => number
  readonly collect?: () => void
}

/** Compacts all pages, as V8 otherwise does only before it runs out of memory. */
function collectAll(): void {
  openCollector()({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/** @returns a function to call once per window: after three quiet ones it collects what has grown since the last time. */
export function createMemoryReturn({
  readResidentBytes = () => process.memoryUsage.rss(),
  readBusyMs = () => performance.eventLoopUtilization().active,
  collect = collectAll,
}: MemoryReturnOptions = {}): () => void {
  let settledBytes = readResidentBytes()
  let busyBefore = readBusyMs()
  let quietWindows = 0

  return function endWindow() {
    const busyMs = readBusyMs()
    quietWindows = busyMs - busyBefore < MAX_BUSY_SHARE * WINDOW_MS ? quietWindows + 1 : 0
    busyBefore = busyMs
    const residentBytes = readResidentBytes()
    settledBytes = Math.min(settledBytes, residentBytes)
    if (quietWindows < QUIET_WINDOWS || residentBytes - settledBytes < MIN_GROWTH_BYTES) return
    collect()
    settledBytes = readResidentBytes()
    busyBefore = readBusyMs()
    quietWindows = 0
  }
}

/** @returns what stops it. */
export function startReturningMemory(): () => void {
  const timer = repeat(createMemoryReturn(), WINDOW_MS)
  timer.unref()
  return () => clearInterval(timer)
}
