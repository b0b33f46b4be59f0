import { MARKER } from '#contract/citation-marker.ts'
import { isPassageSource, type PassageSource, type Source } from '#contract/source.ts'

const CITATION = new RegExp(String.raw`\s?${MARKER}`, 'g')

export function splitCitations(text: string, known: ReadonlySet<number>): (string | number)[] {
  if (known.size === 0 || !text.includes('[')) return text === '' ? [] : [text]
  const pieces: (string | number)[] = []
  let from = 0
  for (const match of text.matchAll(CITATION)) {
    const n = Number(match[1])
    if (!known.has(n)) continue
    if (match.index > from) pieces.push(text.slice(from, match.index))
    pieces.push(n)
    from = match.index + match[0].length
  }
  if (from < text.length) pieces.push(text.slice(from))
  return pieces
}

/** Bracketed numbers in code are no citations. */
const CODE = /^ {0,3}(`{3,}|~{3,})[^]*?(?:^ {0,3}\1|$(?![^]))|(?<!`)(`+)(?!`)[^]*?(?<!`)\2(?!`)/gm

export function citedNumbers(text: string, known: ReadonlySet<number>): number[] {
  if (known.size === 0 || !text.includes('[')) return []
  return [...new Set(splitCitations(text.replace(CODE, ''), known).filter((piece) => typeof piece === 'number'))]
}

/** The passage itself, then the ranges that its markers cite. */
export const citedParts = (source: PassageSource): PassageSource[] => [
  source,
  ...(source.cited ?? []).map((range) => ({ ...source, ...range })),
]

/** The passages to step through from `open`: the cited ones, or all if the answer does not cite `open`. */
export function citedPassages(open: Source, sources: readonly Source[], text: string): PassageSource[] {
  const byNumber = new Map([...sources, open].map((known) => [known.n, known]))
  const cited = citedNumbers(text, new Set(byNumber.keys())).flatMap((n) => byNumber.get(n) ?? [])
  return (cited.includes(open) ? cited : [...byNumber.values()]).filter(isPassageSource)
}
