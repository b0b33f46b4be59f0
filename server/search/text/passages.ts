/** UTF-16 offsets into the page's text. */
export interface PassageRange {
  readonly start: number
  readonly end: number
}

const TARGET_CHARACTERS = 1_000
const MIN_CHARACTERS = 500
const MAX_CHARACTERS = 1_400

const BORDERS: readonly RegExp[] = [
  /\n\s*\n/g,
  /(?:[.!?…]["'”’»)\]]*(?=\s)|[。！？]["'”’」』）]*|[؟۔।]["'”’»]*(?=\s))/g,
  /\n/g,
  /\s/g,
]

export function splitPassages(text: string): PassageRange[] {
  const ranges: PassageRange[] = []
  let start = 0
  while (start < text.length) {
    const end =
      text.length - start <= MAX_CHARACTERS
        ? text.length
        : start + findBorder(text.slice(start, start + MAX_CHARACTERS))
    const trimmed = trim(text, start, end)
    if (trimmed) ranges.push(trimmed)
    start = end
  }
  return ranges
}

function findBorder(window: string): number {
  for (const border of BORDERS) {
    const ends = [...window.matchAll(border)]
      .map((match) => match.index + match[0].length)
      .filter((end) => end >= MIN_CHARACTERS)
    if (ends.length > 0)
      return ends.reduce((best, end) =>
        Math.abs(end - TARGET_CHARACTERS) < Math.abs(best - TARGET_CHARACTERS) ? end : best,
      )
  }
  // Without white space a split may fall anywhere except inside a surrogate pair.
  return /[\uD800-\uDBFF]/.test(window[TARGET_CHARACTERS - 1] ?? '') ? TARGET_CHARACTERS - 1 : TARGET_CHARACTERS
}

function trim(text: string, from: number, to: number): PassageRange | undefined {
  let [start, end] = [from, to]
  while (start < end && /\s/.test(text[start] ?? '')) start += 1
  while (end > start && /\s/.test(text[end - 1] ?? '')) end -= 1
  return end > start ? { start, end } : undefined
}
