/** Cuts the text of a page into passages that can be found, shown and cited on their own. */

/** UTF-16 offsets into the page's text. */
export interface PassageRange {
  readonly start: number
  readonly end: number
}

/** Wished length; a border within reach of it decides. */
const TARGET = 1_000
const LEAST = 500
const MOST = 1_400

/** Better borders first: a paragraph's end, a sentence's end, a line's end, any blank. */
const BORDERS: readonly RegExp[] = [
  /\n\s*\n/g,
  /(?:[.!?…]["'”’»)\]]*(?=\s)|[。！？]["'”’」』）]*|[؟۔।]["'”’»]*(?=\s))/g,
  /\n/g,
  /\s/g,
]

/** Ranges in order, without overlap, each beginning and ending with something else than a blank. */
export function cutPassages(text: string): PassageRange[] {
  const ranges: PassageRange[] = []
  let start = 0
  while (start < text.length) {
    const end = text.length - start <= MOST ? text.length : start + findBorder(text.slice(start, start + MOST))
    const trimmed = trim(text, start, end)
    if (trimmed) ranges.push(trimmed)
    start = end
  }
  return ranges
}

/** The border nearest to the wished length, among those of the best kind that the window has. */
function findBorder(window: string): number {
  for (const border of BORDERS) {
    const ends = [...window.matchAll(border)]
      .map((match) => match.index + match[0].length)
      .filter((end) => end >= LEAST)
    if (ends.length > 0)
      return ends.reduce((best, end) => (Math.abs(end - TARGET) < Math.abs(best - TARGET) ? end : best))
  }
  // Text without a single blank: cut anywhere but inside a surrogate pair.
  return /[\uD800-\uDBFF]/.test(window[TARGET - 1] ?? '') ? TARGET - 1 : TARGET
}

function trim(text: string, from: number, to: number): PassageRange | undefined {
  let [start, end] = [from, to]
  while (start < end && /\s/.test(text[start] ?? '')) start += 1
  while (end > start && /\s/.test(text[end - 1] ?? '')) end -= 1
  return end > start ? { start, end } : undefined
}
