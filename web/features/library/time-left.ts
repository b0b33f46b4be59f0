import type { ReadingProgress } from './upload-summary.ts'

/** The pace of this time counts: files at the beginning may be much smaller than those at the end. */
const WINDOW_MS = 60_000
const MIN_OBSERVED_MS = 5_000

/** Estimates by the pace of the last minute. */
export function createTimeLeft(clock: () => number = () => performance.now()): {
  /** In seconds; null while nothing is known. */
  observe: (progress: ReadingProgress) => number | null
} {
  let seen: { readonly at: number; readonly done: number }[] = []
  return {
    observe({ done, total }) {
      const at = clock()
      // A smaller number belongs to other files.
      if (done < (seen.at(-1)?.done ?? 0)) seen = []
      seen = [...seen.filter((one) => at - one.at < WINDOW_MS), { at, done }]
      const first = seen[0] ?? { at, done }
      const pace = (done - first.done) / (at - first.at)
      if (at - first.at < MIN_OBSERVED_MS || pace === 0) return null
      return (total - done) / pace / 1000
    },
  }
}

const HOUR_S = 3600

/** `about 3 min left` */
export function describeTimeLeft(seconds: number): string {
  if (seconds < 60) return 'less than a minute left'
  if (seconds < HOUR_S) return `about ${Math.round(seconds / 60)} min left`
  return `about ${Math.round(seconds / HOUR_S)} h left`
}
