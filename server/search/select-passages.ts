import type { ConsideredPassage } from '#contract/trace.ts'
import { promptCharacters } from './prompt-characters.ts'
import type { RankedPassages } from './ranking/rank-passages.ts'
import type { FoundPassage, StoredPassage } from './read-passages.ts'

const MAX_JOINED_CHARACTERS = 4_000

/** Room for the file, the page and the headings that a prompt names with each passage. */
const MARKUP_CHARACTERS = 120
export type Selection = { readonly joins: boolean } & ({ readonly limit: number } | { readonly room: number })

/** Share of the room that the best passages fill before other documents get a place. */
const SHARE_OF_BEST = 0.9
/** Fewer documents among the best passages, and the next one gets a place. */
const MIN_DOCUMENTS = 2

/** Best first, but where nearly all room goes to one document, the best passage of the next one before its end. */
export function representDocuments(stored: readonly StoredPassage[], room: number): StoredPassage[] {
  let used = 0
  const isAmongBest = ({ found }: StoredPassage) =>
    (used += promptCharacters(found.text) + MARKUP_CHARACTERS) <= SHARE_OF_BEST * room
  const end = stored.findIndex((passage) => !isAmongBest(passage))
  const best = end < 0 ? [...stored] : stored.slice(0, end)
  const documents = new Set(best.map(({ found }) => found.documentId))
  const missing = MIN_DOCUMENTS - documents.size
  const next = stored
    .slice(best.length)
    .filter(({ found }) => !documents.has(found.documentId) && documents.add(found.documentId))
    .slice(0, Math.max(0, missing))
  return [...best, ...next, ...stored.slice(best.length).filter((passage) => !next.includes(passage))]
}

/** Passages that are handed over with the text around them. */
const EXTENDED_PASSAGES = 3
const MAX_EXTENSION_CHARACTERS = 600
/** Share of the room by which all extensions together may exceed it: they displace no passage. */
const EXTENSION_SHARE = 0.15

/** The first passages with the text before and after them on their page, up to a line border and the next passage. */
export function withSurroundings(
  passages: readonly FoundPassage[],
  stored: readonly StoredPassage[],
  room: number,
): FoundPassage[] {
  const most = Math.min(MAX_EXTENSION_CHARACTERS, Math.floor((room * EXTENSION_SHARE) / (2 * EXTENDED_PASSAGES)))
  const extended = [...passages]
  for (const [index, passage] of passages.slice(0, EXTENDED_PASSAGES).entries()) {
    const pageText = stored.find(({ found }) => isOnPage(found, passage))?.pageText
    const others = extended.filter((other) => other !== passage && isOnPage(other, passage))
    if (pageText !== undefined) extended[index] = extend(passage, { pageText, others, most })
  }
  return extended
}

const isOnPage = (one: Range, other: Range): boolean => one.documentId === other.documentId && one.page === other.page

interface Surroundings {
  readonly pageText: string
  /** Passages of the page that are handed over as well. */
  readonly others: readonly Range[]
  readonly most: number
}

function extend(passage: FoundPassage, { pageText, others, most }: Surroundings): FoundPassage {
  const from = Math.max(0, ...others.map(({ end }) => end).filter((end) => end <= passage.start))
  const to = Math.min(pageText.length, ...others.map(({ start }) => start).filter((start) => start >= passage.end))
  const [before, after] = [pageText.slice(from, passage.start), pageText.slice(passage.end, to)]
  const hasBefore = before.trim() !== ''
  const hasAfter = after.trim() !== ''
  const extendedStart = before.length <= most ? from : passage.start - afterFirstBreak(before.slice(-most))
  const extendedEnd = after.length <= most ? to : passage.end + Math.max(0, after.slice(0, most).lastIndexOf('\n'))
  const [start, end] = [hasBefore ? extendedStart : passage.start, hasAfter ? extendedEnd : passage.end]
  return { ...passage, start, end, text: pageText.slice(start, end) }
}

/** Characters after the first line break; none without one. */
function afterFirstBreak(text: string): number {
  const at = text.indexOf('\n')
  return at < 0 ? 0 : text.length - at - 1
}

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
