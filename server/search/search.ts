import { type RetrievalTrace, TRACE_CHARACTERS_PER_TOKEN } from '#contract/trace.ts'
import { traceOperation } from '#server/base/tracing.ts'
import type { Scope } from '#server/database/scope.ts'
import type { Embedder } from '#server/providers/embed.ts'
import { isUnchanged, type LibraryIndex, openLibraryIndex, readPassageFilter } from './index/library-index.ts'
import { addWords, type QuestionWithAddedWords } from './query/added-words.ts'
import { expandQuestion } from './query/expansion.ts'
import { parseQuestion } from './query/parse-question.ts'
import { ENOUGH_EVIDENCE, measureEvidence } from './ranking/evidence.ts'
import { fuseRankings, fuseSearches } from './ranking/rank-fusion.ts'
import { type RankedPassages, rankByWords, rankPassages } from './ranking/rank-passages.ts'
import { type FoundPassage, readDocumentIds, readPassages } from './read-passages.ts'
import { representDocuments, selectPassages, withSurroundings } from './select-passages.ts'
import { searchVectors, type VectorSearchResult } from './vectors/vector-search.ts'

export interface SearchOptions {
  readonly documentIds?: readonly string[]
  readonly limit?: number
  /** Fills this many characters of a prompt instead of a number of passages. */
  readonly room?: number
  readonly joins?: boolean
  readonly embedder?: Embedder | null
  /** Only the best passage of each document, and only of documents that fit about as well as the best one. */
  readonly perDocument?: boolean
  /** The question in other words: each is searched for, and the rankings are fused. */
  readonly otherWords?: readonly string[]
  /** Its rankings are reused, unless the library, the chosen documents or the number of candidates differ. */
  readonly earlier?: RankedSearch | undefined
}

interface RankedQuestion {
  readonly expanded: QuestionWithAddedWords
  readonly byWords: RankedPassages
  readonly evidence: number
}

export interface RankedSearch {
  readonly library: LibraryIndex
  readonly documentIds: readonly string[] | undefined
  readonly candidates: number
  /** By the words that were searched for. */
  readonly rankings: ReadonlyMap<string, RankedQuestion>
}

export interface SearchResult {
  readonly passages: readonly FoundPassage[]
  readonly trace: RetrievalTrace
  /** Stemming languages of the library, by their English names. */
  readonly languages: readonly string[]
  /** For a search in other words; undefined in a library whose scores would take much memory. */
  readonly ranked: RankedSearch | undefined
}

const CANDIDATES = 100
/** Passages read beyond the limit: they replace copies, and the trace names them. */
const SPARE_PASSAGES = 8
/** Shorter than most passages, so that as many are read as fill the room. */
const CHARACTERS_OF_SHORT_PASSAGE = 600
/** Candidates of a search for documents: one long document may have hundreds of passages that fit. */
const CANDIDATES_OF_DOCUMENTS = 1_000
/** A document fits if its best passage has this share of the score of the best of all. */
const MIN_SHARE_OF_BEST = 0.5
/** Share of the room by which the best passages of further searches may exceed it, so that they displace none. */
const FURTHER_SEARCHES_SHARE = 0.15
/** A ranking takes up to 16 bytes for each passage of the library, while a model is asked for other words. */
const MAX_PASSAGES_HELD = 50_000
const NO_VECTORS: VectorSearchResult = { similar: [], notes: [] }

/** Best first. Run as the person (`database.asUser`): row-level security limits the result. */
export async function searchPassages(
  scope: Scope,
  question: string,
  options: SearchOptions = {},
): Promise<FoundPassage[]> {
  return [...(await searchDocuments(scope, question, options)).passages]
}

export const searchDocuments = (scope: Scope, question: string, options: SearchOptions = {}): Promise<SearchResult> =>
  traceOperation('search', options.perDocument ? 'documents' : 'passages', () => findPassages(scope, question, options))

async function findPassages(
  scope: Scope,
  question: string,
  {
    documentIds,
    limit = 8,
    room: ownRoom,
    joins = false,
    perDocument = false,
    embedder = null,
    otherWords = [],
    earlier,
  }: SearchOptions,
): Promise<SearchResult> {
  const room = ownRoom === undefined ? undefined : roomOfSearches(ownRoom, otherWords.length)
  const startedAt = performance.now()
  const vectorSearch =
    embedder && searchVectors(scope, question, { embedder, documentIds: documentIds ?? null, limit: CANDIDATES })
  // Awaited below; until then a failure must not count as an unhandled rejection.
  vectorSearch?.catch(() => undefined)
  const library = await openLibraryIndex(scope)
  const isAllowed = await readPassageFilter(scope, library, documentIds)
  const most = room === undefined ? limit : Math.ceil(room / CHARACTERS_OF_SHORT_PASSAGE)
  const candidates = Math.max(perDocument ? CANDIDATES_OF_DOCUMENTS : CANDIDATES, most)
  const isSame =
    earlier?.documentIds === documentIds && earlier?.candidates === candidates && isUnchanged(earlier.library, library)
  const rankings = new Map(isSame ? earlier.rankings : [])
  const rank = async (words: string): Promise<RankedQuestion> => {
    const known = rankings.get(words)
    if (known) return known
    const parsed = await parseQuestion(scope, words, library.languages)
    const own = await expandQuestion(scope, library, parsed)
    const input = { library, question: parsed, expanded: own, isAllowed, limit: candidates }
    const byOwnWords = rankByWords(input)
    const evidence = measureEvidence(library, own, byOwnWords)
    const expanded = evidence < ENOUGH_EVIDENCE ? await addWords(scope, library, parsed, own) : { ...own, added: [] }
    const byWords =
      expanded.added.length === 0
        ? await rankPassages(scope, input, byOwnWords)
        : await rankPassages(scope, { ...input, expanded })
    const ranked = { expanded, byWords, evidence }
    rankings.set(words, ranked)
    return ranked
  }
  const { expanded, byWords, evidence } = await rank(question)
  const { similar, notes } = (await vectorSearch) ?? NO_VECTORS
  const own = similar.length > 0 ? fuseRankings(library, byWords, similar) : byWords
  const others = await Promise.all(otherWords.map(async (words) => (await rank(words)).byWords))
  const fused = fuseSearches(own, others)
  const ranked = perDocument ? await bestOfDocuments(scope, library, fused) : fused
  const read = await readPassages(scope, library, ranked.order.slice(0, most + SPARE_PASSAGES))
  const stored = room === undefined ? read : representDocuments(read, room)
  const { passages: selected, considered } = selectPassages(
    stored,
    ranked,
    room === undefined ? { limit, joins } : { room, joins },
  )
  const passages = room === undefined ? selected : withSurroundings(selected, stored, room)
  const { weights, postings, guessed, added } = expanded
  return {
    passages,
    languages: library.languages,
    ranked: library.lengths.length > MAX_PASSAGES_HELD ? undefined : { library, documentIds, candidates, rankings },
    trace: {
      scope: 'passages',
      query: question,
      terms: [...weights].map(([term, weight]) => ({ term, weight, passages: postings.get(term)?.frequency ?? 0 })),
      guessed: guessed.map(({ word, terms }) => ({ word, terms: [...terms] })),
      ...(added.length === 0 ? {} : { added: [...added] }),
      considered,
      matched: ranked.matched,
      evidence,
      ...(otherWords.length === 0 ? {} : { otherWords: [...otherWords] }),
      tokens: Math.ceil(passages.reduce((sum, { text }) => sum + text.length, 0) / TRACE_CHARACTERS_PER_TOKEN),
      ms: performance.now() - startedAt,
      notes: [...notes],
    },
  }
}

/** Passages that only the query expansion found say nothing about the subject itself. */
async function bestOfDocuments(scope: Scope, library: LibraryIndex, ranked: RankedPassages): Promise<RankedPassages> {
  const wordScore = (passage: number) => ranked.scoresOf(passage).words ?? 0
  const best = Math.max(0, ...ranked.order.map(wordScore))
  const fitting = ranked.order.filter((passage) => best === 0 || wordScore(passage) >= MIN_SHARE_OF_BEST * best)
  const documents = await readDocumentIds(scope, library, fitting)
  const seen = new Set<string>()
  const order = fitting.filter((passage) => {
    const document = documents.get(passage)
    if (document === undefined || seen.has(document)) return false
    seen.add(document)
    return true
  })
  return { ...ranked, order }
}

const roomOfSearches = (room: number, searches: number): number =>
  room + Math.floor(Math.min(searches * CHARACTERS_OF_SHORT_PASSAGE, room * FURTHER_SEARCHES_SHARE))
