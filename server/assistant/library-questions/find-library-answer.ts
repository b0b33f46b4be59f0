/** Answers a question about the library from its rows. */
import { setImmediate } from 'node:timers/promises'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import type { RetrievalTrace } from '#contract/trace.ts'
import type { Scope } from '#server/database/scope.ts'
import {
  countByType,
  type DocumentFacts,
  type FactsFilter,
  type FactsOrder,
  listFacts,
  sampleTexts,
  type TypeCounts,
} from '#server/documents/store/document-facts.ts'
import { findByName } from '#server/documents/store/library.ts'
import type { Embedder } from '#server/providers/embed.ts'
import { type FoundPassage, readOpenings } from '#server/search/read-passages.ts'
import { searchDocuments } from '#server/search/search.ts'
import { languageOfText } from './document-languages.ts'
import type { LibraryFilter, LibraryQuestion } from './parse-library-question.ts'
import { instantAt } from './wall-clock.ts'

/** Documents that an answer names; the others are counted. */
export const MAX_NAMED_DOCUMENTS = 50
/** Documents whose language is looked at; reading more takes longer than an answer may. */
export const MAX_SAMPLED_DOCUMENTS = 1_000

const DETECTED_AT_ONCE = 50

export interface ListedDocument extends DocumentFacts {
  /** Opens the document, where it tells most. */
  readonly opening: FoundPassage
}

export interface LibraryAnswer {
  /** The server's, if undefined. */
  readonly timeZone: string | undefined
  readonly question: LibraryQuestion
  readonly types: readonly TypeCounts[]
  /** Types of the documents that match, where their pages are asked for. */
  readonly matchingTypes: readonly TypeCounts[]
  /** Documents that match. */
  readonly count: number
  /** The first of them. */
  readonly listed: readonly ListedDocument[]
  readonly trace: RetrievalTrace | undefined
}

interface Matching {
  readonly ids?: readonly string[]
  readonly passages?: readonly FoundPassage[]
  readonly trace?: RetrievalTrace
}

/** Runs as the person: row-level security decides which documents count. */
export async function findLibraryAnswer(
  scope: Scope,
  question: LibraryQuestion,
  { embedder, timeZone }: { readonly embedder: Embedder | null; readonly timeZone: string | undefined },
): Promise<LibraryAnswer> {
  const { filter, order, limit, asks } = question
  const types = await countByType(scope)
  const { ids, passages = [], trace } = await findMatching(scope, filter, embedder)
  const listOrder: FactsOrder = order ?? (filter.added ? 'newest' : 'name')
  const atMost = order === undefined ? MAX_NAMED_DOCUMENTS : (limit ?? 1)
  const isWholeLibrary = Object.keys(filter).length === 0 && order === undefined && asks !== 'documents'
  const factsFilter = toFactsFilter(filter, { ids, order, timeZone })
  const isOfAllPages = asks === 'pages' && filter.name === undefined
  const matchingTypes = !isOfAllPages ? [] : isWholeLibrary ? types : await countByType(scope, factsFilter)
  const found = await listFacts(scope, factsFilter, {
    order: listOrder,
    limit: isWholeLibrary || isOfAllPages ? 0 : atMost,
  })
  // The best passages come first, not the first names.
  const ranks = new Map(passages.map(({ documentId }, rank) => [documentId, rank]))
  const rankOf = ({ id }: DocumentFacts) => ranks.get(id) ?? 0
  const documents = found.documents.toSorted((one, other) => rankOf(one) - rankOf(other))
  return {
    timeZone,
    question,
    types,
    matchingTypes,
    count: isWholeLibrary ? countDocuments(types) : isOfAllPages ? countDocuments(matchingTypes) : found.count,
    listed: await withOpenings(scope, documents, passages),
    trace,
  }
}

const countDocuments = (types: readonly TypeCounts[]): number => types.reduce((sum, each) => sum + each.documents, 0)

function toFactsFilter(
  filter: LibraryFilter,
  {
    ids,
    order,
    timeZone,
  }: {
    readonly ids: Matching['ids']
    readonly order: LibraryQuestion['order']
    readonly timeZone: string | undefined
  },
): FactsFilter {
  const { extensions, state, added, isScanned } = filter
  const mediaTypes: Readonly<Record<string, string>> = UPLOAD_TYPES
  const isByPages = order === 'longest' || order === 'shortest'
  return {
    mimetypes: extensions && [...new Set(extensions.flatMap((extension) => mediaTypes[extension] ?? []))],
    states:
      state === undefined
        ? isByPages
          ? ['ready']
          : undefined
        : state === 'failed'
          ? ['failed']
          : ['queued', 'reading', 'paused'],
    ids,
    addedFrom: added && instantAt(added.from, timeZone),
    addedTo: added && instantAt(added.to, timeZone),
    isRecognised: isScanned,
  }
}

async function findMatching(scope: Scope, filter: LibraryFilter, embedder: Embedder | null): Promise<Matching> {
  const { language, name, subject } = filter
  const found: Matching[] = []
  if (name !== undefined) found.push({ ids: await findNamed(scope, name) })
  if (language !== undefined) {
    found.push({ ids: await findInLanguage(scope, language) })
  }
  if (subject !== undefined) {
    const { passages, trace } = await searchDocuments(scope, subject, {
      perDocument: true,
      limit: MAX_NAMED_DOCUMENTS,
      embedder,
    })
    found.push({ ids: passages.map(({ documentId }) => documentId), passages, trace })
  }
  return found.reduce<Matching>(
    (all, next) => ({
      ...all,
      ...next,
      ids: all.ids ? all.ids.filter((id) => next.ids?.includes(id)) : (next.ids ?? []),
    }),
    {},
  )
}

/** Other answers go on meanwhile: to detect a thousand languages takes longer than they may wait. */
async function findInLanguage(scope: Scope, language: string): Promise<string[]> {
  const samples = await sampleTexts(scope, MAX_SAMPLED_DOCUMENTS)
  const ids: string[] = []
  for (const [index, { id, text }] of samples.entries()) {
    if (index % DETECTED_AT_ONCE === DETECTED_AT_ONCE - 1) await setImmediate()
    if (languageOfText(text) === language) ids.push(id)
  }
  return ids
}

/** Documents of exactly this name, else those whose names contain its words. */
async function findNamed(scope: Scope, name: string): Promise<string[]> {
  const rows = await findByName(scope, name)
  const exact = rows.filter(({ filename }) => filename.toLowerCase() === name.toLowerCase())
  return (exact.length > 0 ? exact : rows).map(({ id }) => id)
}

async function withOpenings(
  scope: Scope,
  documents: readonly DocumentFacts[],
  passages: readonly FoundPassage[],
): Promise<ListedDocument[]> {
  const best = Map.groupBy(passages, ({ documentId }) => documentId)
  const others = documents.filter(({ id, state }) => state === 'ready' && !best.has(id)).map(({ id }) => id)
  const openings = others.length === 0 ? [] : await readOpenings(scope, others, others.length)
  const first = Map.groupBy(openings, ({ documentId }) => documentId)
  return documents.map((document) => ({
    ...document,
    opening: best.get(document.id)?.[0] ?? first.get(document.id)?.[0] ?? withoutText(document),
  }))
}

/** A document that was not read opens at its beginning; its card tells the reason. */
const withoutText = ({ id, filename, mimetype, error }: DocumentFacts): FoundPassage => ({
  documentId: id,
  filename,
  mimetype,
  page: 1,
  start: 0,
  end: 0,
  text: error?.message ?? '',
  score: 0,
})
