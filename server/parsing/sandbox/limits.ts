export interface ParseLimits {
  readonly residentBytes: number
  readonly heapMegabytes: number
  readonly timeMs: number
  readonly timeMsPerMegabyte: number
  /** Per page in OCR; does not count against the other two. */
  readonly timeMsPerRecognisedPage: number
}

export const PARSE_LIMITS: ParseLimits = {
  residentBytes: 1024 * 1024 * 1024,
  heapMegabytes: 640,
  timeMs: 45_000,
  timeMsPerMegabyte: 5_000,
  timeMsPerRecognisedPage: 120_000,
}
