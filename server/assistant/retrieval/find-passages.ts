import { z } from 'zod'
import { type RetrievalTrace, TRACE_CHARACTERS_PER_TOKEN } from '#contract/trace.ts'
import { describeLibraryAnswer } from '#server/assistant/library-questions/describe-library.ts'
import { findLibraryAnswer, type LibraryAnswer } from '#server/assistant/library-questions/find-library-answer.ts'
import { parseLibraryQuestion } from '#server/assistant/library-questions/parse-library-question.ts'
import { wallClockAt } from '#server/assistant/library-questions/wall-clock.ts'
import type { ParsedMessage, ToolCall } from '#server/assistant/tools/commands.ts'
import type { ToolRun } from '#server/assistant/tools/outcome.ts'
import type { TurnsInPrompt } from '#server/conversations/earlier-message-queries.ts'
import type { Scope } from '#server/database/scope.ts'
import { newestVersions } from '#server/documents/store/library.ts'
import { countCharacters } from '#server/documents/store/pages.ts'
import type { Embedder } from '#server/providers/embed.ts'
import { promptCharacters } from '#server/search/prompt-characters.ts'
import { type FoundPassage, isSamePassage, readOpenings } from '#server/search/read-passages.ts'
import { type RankedSearch, searchDocuments, type SearchOptions, type SearchResult } from '#server/search/search.ts'
import { findDescribedDocuments } from './described-language.ts'
import { isSameMessage, type EarlierMessagePassage } from './earlier-messages.ts'
import { withEarlierQuestion } from './follow-up.ts'
import { searchKnowledge } from './knowledge.ts'
import { splitParts } from './question-parts.ts'
import { asksAboutWholeDocument } from './whole-document-question.ts'
import { chooseDocuments, readAllPages, maxSourceCharacters } from './whole-document.ts'

export interface Retrieval {
  readonly query: string
  readonly passages: readonly FoundPassage[]
  /** The parts of the question, each with its own passages: quotations answer every one. */
  readonly parts?: readonly { readonly query: string; readonly passages: readonly FoundPassage[] }[]
  readonly messages: readonly EarlierMessagePassage[]
  readonly runs: ReadonlyMap<ToolCall, ToolRun>
  readonly trace?: RetrievalTrace
  /** Stemming languages of the library, if it was searched by the message. */
  readonly languages?: readonly string[]
  /** For a search in other words. */
  readonly ranked?: RankedSearch | undefined
  /** Searches for the same and for other words; undefined if no search by the message found the passages. */
  readonly searchAgain?: SearchAgain
  /** Documents that the question names or the person chose; empty if there are none, or if no document was searched. */
  readonly targetDocumentIds: readonly string[]
  /** Sentences about documents that the question names and the person does not have. */
  readonly missingDocumentNotes: readonly string[]
  /** For a question about the library itself; the passages then open the documents that it lists. */
  readonly library?: LibraryAnswer
}

export type SearchAgain = (
  scope: Scope,
  options: { readonly otherWords: readonly string[]; readonly earlier: RankedSearch | undefined },
) => Promise<SearchResult>

export interface RetrievalOptions {
  /** For the extractive answerer: other commands skip the search, and questions quote passages of chosen documents. */
  readonly onlyQuotes: boolean
  readonly chosen: readonly string[]
  readonly earlierQuestions: readonly string[]
  readonly turnsInPrompt: TurnsInPrompt
  readonly hasDocuments: boolean
  readonly contextWindow: number
  /** Characters that passages may fill of the prompt of a language model. */
  readonly room: number
  readonly embedder: Embedder | null
  /** The server's, if undefined. */
  readonly timeZone?: string | undefined
}

/** For each search that a command asks for. */
const MAX_PASSAGES = 8
/** Passages that quotations are chosen from. */
const MAX_QUOTED_PASSAGES = 24
/** Chosen documents up to this total length are always read whole. */
const MAX_SMALL_CHARACTERS = 12_000

const chosenIds = z.array(z.uuid()).max(200).nullish().catch(null)

/** Resolves the stored choice of documents to their newest versions. Runs as the person. */
export async function resolveChosen(scope: Scope, stored: unknown): Promise<readonly string[]> {
  const ids = chosenIds.parse(stored) ?? []
  return ids.length === 0 ? ids : newestVersions(scope, ids)
}

/** Searches for the arguments of `@knowledge`, otherwise for the whole message. Runs as the person. */
export async function findPassages(
  scope: Scope,
  { before, calls, text }: ParsedMessage,
  {
    onlyQuotes,
    chosen,
    earlierQuestions,
    turnsInPrompt,
    hasDocuments,
    contextWindow,
    room,
    embedder,
    timeZone,
  }: RetrievalOptions,
): Promise<Retrieval> {
  const knowledge = calls.filter(({ name }) => name === 'knowledge')
  const library = await answerAboutLibrary(
    scope,
    { before, calls, text },
    { chosen, earlierQuestions, embedder, timeZone },
  )
  if (library) return library
  if (knowledge.length === 0) {
    const nothing: Retrieval = {
      query: text,
      passages: [],
      messages: [],
      runs: new Map<ToolCall, ToolRun>(),
      targetDocumentIds: calls.length === 0 ? chosen : [],
      missingDocumentNotes: [],
    }
    if (!hasDocuments || (onlyQuotes && calls.length > 0)) return nothing
    const whole = await findWholeDocuments(scope, text, { chosen, onlyQuotes, contextWindow })
    if (whole) return { ...nothing, ...whole }
    const query = withEarlierQuestion(text, earlierQuestions)
    const documentIds = chosen.length > 0 ? { documentIds: chosen } : {}
    const options = { joins: true, embedder, ...documentIds }
    const parts = splitParts(text)
    const amount = onlyQuotes ? { limit: MAX_QUOTED_PASSAGES } : { room }
    const search = async (within: Scope, more: Pick<SearchOptions, 'otherWords' | 'earlier'>) => {
      const searched = await searchDocuments(within, query, { ...options, ...amount, ...more })
      return chosen.length > 0 ? searched : withDescribedDocuments(within, query, searched, options)
    }
    const found = await search(scope, { otherWords: parts })
    if (!onlyQuotes) return { ...nothing, ...found, query, searchAgain: search }
    const ofParts = parts.map(async (part) => {
      const ofPart = await searchDocuments(scope, part, { ...options, limit: MAX_PASSAGES })
      const { passages } = chosen.length > 0 ? ofPart : await withDescribedDocuments(scope, part, ofPart, options)
      return { query: part, passages }
    })
    return { ...nothing, ...found, query, parts: await Promise.all(ofParts) }
  }
  const runs = new Map<ToolCall, ToolRun>()
  const passages: FoundPassage[] = []
  const messages: EarlierMessagePassage[] = []
  const queries: string[] = []
  const traces: RetrievalTrace[] = []
  const missingDocumentNotes: string[] = []
  const targetDocumentIds: string[] = []
  const share = Math.ceil(MAX_PASSAGES / knowledge.length)
  const readWholeDocuments = (question: string, named: readonly string[]) =>
    findWholeDocuments(scope, question, { chosen: named.length > 0 ? named : chosen, onlyQuotes, contextWindow })
  for (const call of knowledge) {
    const options = { limit: share, embedder, chosen, turnsInPrompt, readWholeDocuments }
    const found = await searchKnowledge(scope, { argument: call.argument, before }, options)
    runs.set(call, found.run)
    queries.push(found.query)
    traces.push(found.trace)
    missingDocumentNotes.push(...found.missingDocumentNotes)
    targetDocumentIds.push(...found.documentIds)
    for (const passage of found.passages)
      if (!passages.some((other) => isSamePassage(passage, other))) passages.push(passage)
    for (const said of found.messages) if (!messages.some((other) => isSameMessage(said, other))) messages.push(said)
  }
  const trace = mergeTraces(traces)
  return {
    query: queries.join(' '),
    passages,
    messages,
    runs,
    targetDocumentIds,
    missingDocumentNotes,
    ...(trace ? { trace } : {}),
  }
}

/** Passages of each document that a question names by its language. */
const MAX_DESCRIBED_PASSAGES = 3

/** Puts passages of documents that a question names by their language before the others: words find few of them. */
async function withDescribedDocuments(
  scope: Scope,
  question: string,
  found: SearchResult,
  options: SearchOptions,
): Promise<SearchResult> {
  const documentIds = await findDescribedDocuments(scope, question)
  if (documentIds.length === 0) return found
  const searched = await searchDocuments(scope, question, { ...options, documentIds, limit: MAX_DESCRIBED_PASSAGES })
  const described =
    searched.passages.length > 0 ? searched.passages : await readOpenings(scope, documentIds, MAX_DESCRIBED_PASSAGES)
  const best = found.passages[0]?.score ?? 1
  const bestDescribed = described[0]?.score ?? 0
  const others = found.passages.filter((passage) => !described.some((other) => isSamePassage(passage, other)))
  const scored = described.map((passage) => ({
    ...passage,
    score: bestDescribed > 0 ? (best * passage.score) / bestDescribed : best,
  }))
  const note = 'Documents in the language that the question names come first.'
  return {
    ...found,
    passages: [...scored, ...others],
    trace: { ...found.trace, notes: [...found.trace.notes, note] },
  }
}

/** Undefined for other questions, for other commands, and where the person chose documents to be asked about. */
async function answerAboutLibrary(
  scope: Scope,
  { before, calls, text }: ParsedMessage,
  {
    chosen,
    earlierQuestions,
    embedder,
    timeZone,
  }: Pick<RetrievalOptions, 'chosen' | 'earlierQuestions' | 'embedder' | 'timeZone'>,
): Promise<Retrieval | undefined> {
  const [call, ...others] = calls
  if (chosen.length > 0 || others.length > 0 || (call && call.name !== 'knowledge')) return undefined
  const startedAt = performance.now()
  const query = call ? call.argument || before : text
  const question = parseLibraryQuestion(query, { earlier: earlierQuestions, now: wallClockAt(new Date(), timeZone) })
  if (!question) return undefined
  const library = await findLibraryAnswer(scope, question, { embedder, timeZone })
  const runs = new Map<ToolCall, ToolRun>()
  if (call)
    runs.set(call, {
      name: 'knowledge',
      status: 'done',
      durationMs: Math.round(performance.now() - startedAt),
      content: describeLibraryAnswer(library),
    })
  const passages = library.listed.map(({ opening }) => opening)
  const { trace } = library
  const nothing = { messages: [], targetDocumentIds: [], missingDocumentNotes: [] }
  return { ...nothing, query, passages, runs, library, ...(trace ? { trace } : {}) }
}

type WholeOptions = Pick<RetrievalOptions, 'chosen' | 'onlyQuotes' | 'contextWindow'>

async function findWholeDocuments(
  scope: Scope,
  question: string,
  { chosen, onlyQuotes, contextWindow }: WholeOptions,
): Promise<{ passages: FoundPassage[]; trace: RetrievalTrace } | undefined> {
  const startedAt = performance.now()
  const isWhole = asksAboutWholeDocument(question)
  const isAsked = question.trim() !== ''
  if (!isWhole && (chosen.length === 0 || (isAsked && onlyQuotes))) return undefined
  const documentIds = chosen.length > 0 ? chosen : await chooseDocuments(scope, question)
  if (!documentIds) return undefined
  const room = maxSourceCharacters(contextWindow)
  const small = Math.min(MAX_SMALL_CHARACTERS, room)
  if (!isWhole && (await countCharacters(scope, documentIds)) > small) return undefined
  const { passages, count } = await readAllPages(scope, documentIds)
  if (passages.length === 0) return undefined
  if (!isWhole && passages.reduce((sum, { text }) => sum + promptCharacters(text), 0) > room) return undefined
  const characters = passages.reduce((sum, { text }) => sum + text.length, 0)
  const trace: RetrievalTrace = {
    scope: 'whole',
    query: question,
    terms: [],
    guessed: [],
    considered: [],
    matched: passages.length,
    tokens: Math.ceil(characters / TRACE_CHARACTERS_PER_TOKEN),
    ms: performance.now() - startedAt,
    notes: [],
    ...(passages.length < count ? { pages: { read: passages.length, of: count } } : {}),
  }
  return { passages, trace }
}

/** A search by words reads no pages, and a whole document that fits all of them. */
function joinPages(...traces: readonly RetrievalTrace[]): NonNullable<RetrievalTrace['pages']> {
  const read = traces.map(
    ({ scope, matched, pages }) => pages ?? (scope === 'whole' ? { read: matched, of: matched } : { read: 0, of: 0 }),
  )
  return { read: sumOf(read.map((pages) => pages.read)), of: sumOf(read.map((pages) => pages.of)) }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

function mergeTraces(traces: readonly RetrievalTrace[]): RetrievalTrace | undefined {
  const [first, ...others] = traces
  return others.reduce<RetrievalTrace | undefined>(
    (joined, trace) =>
      joined && {
        scope: joined.scope === 'whole' ? 'whole' : trace.scope,
        query: `${joined.query}\n${trace.query}`,
        terms: [...joined.terms, ...trace.terms],
        guessed: [...joined.guessed, ...trace.guessed],
        considered: [...joined.considered, ...trace.considered],
        ...(joined.messages || trace.messages
          ? { messages: [...(joined.messages ?? []), ...(trace.messages ?? [])] }
          : {}),
        matched: joined.matched + trace.matched,
        tokens: joined.tokens + trace.tokens,
        ms: joined.ms + trace.ms,
        notes: [...joined.notes, ...trace.notes],
        ...(joined.pages || trace.pages ? { pages: joinPages(joined, trace) } : {}),
      },
    first,
  )
}
