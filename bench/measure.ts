/** Medians and ratios: absolute times mean little on a shared machine. */

export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits))

/** Milliseconds that a task takes. */
export async function timed(task: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await task()
  return performance.now() - startedAt
}

/** Alternates both, so that a busy minute affects both. Milliseconds of each run. */
export async function inTurn(
  times: number,
  ours: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<{ ours: number[]; baseline: number[] }> {
  const measured = { ours: [] as number[], baseline: [] as number[] }
  for (let run = 0; run < times; run += 1) {
    measured.ours.push(await ours())
    measured.baseline.push(await baseline())
  }
  return measured
}

export const compared = ({ ours, baseline }: { ours: readonly number[]; baseline: readonly number[] }) => ({
  p50Ms: rounded(median(ours)),
  p95Ms: rounded(quantile(ours, 0.95)),
  baselineP50Ms: rounded(median(baseline)),
  ratio: rounded(median(ours) / median(baseline)),
})
