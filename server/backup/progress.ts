/** Takes one sentence for the operator. */
export type Progress = (sentence: string) => void

const INTERVAL_MS = 2_000

/** @returns a function that reports at most every two seconds */
export function reportEvery(progress: Progress): (sentence: () => string) => void {
  let next = performance.now() + INTERVAL_MS
  return (sentence) => {
    if (performance.now() < next) return
    next = performance.now() + INTERVAL_MS
    progress(`${sentence()} …`)
  }
}
