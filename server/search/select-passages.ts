import type { ConsideredPassage } from '#contract/trace.ts'
import type { RankedPassages } from './ranking/rank-passages.ts'
import type { FoundPassage, StoredPassage } from './read-passages.ts'

const MAX_JOINED_CHARACTERS = 4_000

/** Room for the file, the page and the headings that a prompt names with each passage. */
const MARKUP_CHARACTERS = 120
/** Characters of scripts that make about one token each, where Latin letters make one of four. */
const DENSE_LETTERS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu
const LATIN_LETTERS_PER_TOKEN = 4

export type Selection = { readonly joins: boolean } & ({ readonly limit: number } | { readonly room: number })

/** Characters of Latin text that take as much of a model's window. */
const promptCharacters = (text: string): number =>
  text.length + (text.match(DENSE_LETTERS)?.length ?? 0) * (LATIN_LETTERS_PER_TOKEN - 1)

/** @param selection `joins`: consecutive passages of a page become one; `room`: characters of a prompt that are filled */
export function selectPassages(
  stored: readonly StoredPassage[],
  ranked: RankedPassages,
  selection: Selection,
): { passages: FoundPassage[]; considered: ConsideredPassage[] } {
  const { joins } = selection
  const seen = new Set<string>()
  const passages: FoundPassage[] = []
  const considered: ConsideredPassage[] = []
  let used = 0
  for (const { number, found, pageText } of stored) {
    const score = ranked.scoreOf(number)
    const words = found.text.replace(/\s+/g, ' ').toLowerCase()
    const neighbour = joins ? passages.findIndex((passage) => areNeighbours(passage, found, pageText)) : -1
    const needed = 'room' in selection ? promptCharacters(found.text) + MARKUP_CHARACTERS : 0
    // The first one is shown even if it fills more than the room.
    const hasRoom =
      'room' in selection ? used === 0 || used + needed <= selection.room : passages.length < selection.limit
    const isJoined = neighbour >= 0 && (hasRoom || 'limit' in selection)
    const cut = seen.has(words) ? 'copy' : isJoined ? 'joined' : hasRoom ? null : 'rank'
    seen.add(words)
    if (cut === null || cut === 'joined') used += needed
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
