import type { ConsideredPassage } from '#contract/trace.ts'
import type { RankedPassages } from './ranking/rank-passages.ts'
import type { FoundPassage, StoredPassage } from './read-passages.ts'

const MAX_JOINED_CHARACTERS = 4_000

/** @param joins whether consecutive passages of a page become one */
export function selectPassages(
  stored: readonly StoredPassage[],
  ranked: RankedPassages,
  { limit, joins }: { readonly limit: number; readonly joins: boolean },
): { passages: FoundPassage[]; considered: ConsideredPassage[] } {
  const seen = new Set<string>()
  const passages: FoundPassage[] = []
  const considered: ConsideredPassage[] = []
  for (const { number, found, pageText } of stored) {
    const score = ranked.scoreOf(number)
    const words = found.text.replace(/\s+/g, ' ').toLowerCase()
    const neighbour = joins ? passages.findIndex((passage) => areNeighbours(passage, found, pageText)) : -1
    const isFull = passages.length === limit
    const cut = seen.has(words) ? 'copy' : neighbour >= 0 ? 'joined' : isFull ? 'rank' : null
    seen.add(words)
    if (cut === null) passages.push({ ...found, score })
    const joined = passages[neighbour]
    if (cut === 'joined' && joined) passages[neighbour] = joinPassages(joined, found, pageText)
    const { documentId, filename, mimetype, page, start, end } = found
    considered.push({ documentId, filename, mimetype, page, start, end, score, scores: ranked.scoresOf(number), cut })
  }
  return { passages, considered }
}

type Range = Pick<FoundPassage, 'documentId' | 'page' | 'start' | 'end'>

function areNeighbours(one: Range, other: Range, pageText: string): boolean {
  if (one.documentId !== other.documentId || one.page !== other.page) return false
  if (Math.max(one.end, other.end) - Math.min(one.start, other.start) > MAX_JOINED_CHARACTERS) return false
  const between = one.end <= other.start ? pageText.slice(one.end, other.start) : pageText.slice(other.end, one.start)
  return between.trim() === ''
}

function joinPassages(one: FoundPassage, other: Range, pageText: string): FoundPassage {
  const [start, end] = [Math.min(one.start, other.start), Math.max(one.end, other.end)]
  return { ...one, start, end, text: pageText.slice(start, end) }
}
