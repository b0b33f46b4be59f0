import { setImmediate as nextTurn } from 'node:timers/promises'

/** Well below what a person notices, and above the cost of changing between tasks. */
const SLICE_MS = 5

/** Work that may take long gives way to the requests of others after each slice. */
export interface TimeSlices {
  /** Read often; `next` is then awaited. */
  readonly isOver: boolean
  next(): Promise<void>
}

export function startTimeSlices(clock: () => number = () => performance.now()): TimeSlices {
  let startedAt = clock()
  return {
    get isOver() {
      return clock() - startedAt >= SLICE_MS
    },
    async next() {
      await nextTurn()
      startedAt = clock()
    },
  }
}
