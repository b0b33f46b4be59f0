/** Bounds what the filters of one person take from the only thread: for each change, and over time. */
import { type Work, WorkExceeded } from '#server/database/work.ts'
import type { RealtimeLimits } from './limits.ts'

/** A plain comparison of a short value takes fewer, so that such filters always work, however many there are. */
const FREE_STEPS_PER_FILTER = 128
/** Unused steps of this time are saved for a burst of changes. */
const SAVED_S = 10

export interface FilterWork {
  /** Work that the filters of all people may take for one change. */
  startChange(): ChangeWork
  /** Forgets people who have saved all that they can. */
  sweep(): void
}

export interface ChangeWork {
  /** Work of evaluating one filter of the person. */
  startFilter(person: string): Work
}

export function createFilterWork(
  { filterStepsPerChange, filterStepsPerSecond }: RealtimeLimits,
  clock: () => number = Date.now,
): FilterWork {
  const savings = new Map<string, { steps: number; at: number }>()
  const mostSaved = SAVED_S * filterStepsPerSecond

  function savingsOf(person: string): { steps: number; at: number } {
    const now = clock()
    const own = savings.get(person) ?? { steps: mostSaved, at: now }
    own.steps = Math.min(mostSaved, own.steps + ((now - own.at) / 1000) * filterStepsPerSecond)
    own.at = now
    savings.set(person, own)
    return own
  }

  return {
    startChange() {
      const spentBy = new Map<string, number>()
      return {
        startFilter(person) {
          let free = FREE_STEPS_PER_FILTER
          return {
            spend(steps) {
              const charged = steps - free
              free = Math.max(0, -charged)
              if (charged <= 0) return
              const own = savingsOf(person)
              const spent = (spentBy.get(person) ?? 0) + charged
              if (spent > filterStepsPerChange || charged > own.steps) throw new WorkExceeded()
              spentBy.set(person, spent)
              own.steps -= charged
            },
          }
        },
      }
    },
    sweep() {
      for (const person of savings.keys()) if (savingsOf(person).steps >= mostSaved) savings.delete(person)
    },
  }
}
