export interface ByteRuns {
  readonly bytes: Uint8Array
  /** End offset of each run, and start of the next. */
  readonly ends: Int32Array
}

export function joinRuns(runs: readonly Uint8Array[]): ByteRuns {
  const ends = new Int32Array(runs.length)
  let end = 0
  for (const [index, { length }] of runs.entries()) {
    end += length
    ends[index] = end
  }
  const bytes = new Uint8Array(end)
  for (const [index, run] of runs.entries()) bytes.set(run, (ends[index] ?? 0) - run.length)
  return { bytes, ends }
}

export function* eachRun({ bytes, ends }: ByteRuns): Generator<Uint8Array> {
  let start = 0
  for (const end of ends) {
    yield bytes.subarray(start, end)
    start = end
  }
}
