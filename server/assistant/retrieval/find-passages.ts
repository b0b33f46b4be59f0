/** Which passages of the documents a question is answered with. */
import { z } from 'zod'
import { type RetrievalTrace } from '#contract/trace.ts'
import { type ParsedMessage, type ToolCall } from '#server/assistant/tools/commands.ts'
import { isSamePassage, searchKnowledge } from '#server/assistant/tools/knowledge.ts'
import { type ToolRun } from '#server/assistant/tools/outcome.ts'
import { type PresentTurns } from '#server/conversations/earlier-messages.ts'
import { type Scope } from '#server/database/scope.ts'
import { newestVersions } from '#server/documents/store/library.ts'
import { countCharacters } from '#server/documents/store/pages.ts'
import { type Embedder } from '#server/providers/embed.ts'
import { type FoundPassage } from '#server/search/read-passages.ts'
import { searchDocuments } from '#server/search/search.ts'
import { isSameMessage, type PastPassage } from './earlier-messages.ts'
import { withItsSubject } from './follow-up.ts'
import { isAboutWhole } from './whole-document-question.ts'
import { chooseWhole, readWhole, roomForSources } from './whole-document.ts'

export interface Retrieval {
  /** What the documents were asked. */
  readonly asked: string
  readonly passages: readonly FoundPassage[]
  /** What was said earlier, where `@knowledge` asks for it. */
  readonly messages: readonly PastPassage[]
  /** How each `@knowledge` went. */
  readonly runs: ReadonlyMap<ToolCall, ToolRun>
  /** How they were found; absent where the documents were left alone. */
  readonly trace?: RetrievalTrace
  /** The documents that are meant: named or chosen; empty where none is, or where they were left alone. */
  readonly meant: readonly string[]
  /** What is said of documents that are named and not there. */
  readonly missing: readonly string[]
}

export interface FindOptions {
  /**
   * Of whoever writes nothing of their own: the documents are left alone where the message asks for other tools, and small
   * ones that are chosen go in whole only where nothing is asked, since the sentence to quote is found among passages.
   */
  readonly onlyQuotes: boolean
  /** Documents that the person chose beside the question. */
  readonly chosen: readonly string[]
  /** What the person asked before in this conversation, oldest first. */
  readonly earlier: readonly string[]
  readonly present: PresentTurns
  /** Whether the person has any: nothing is looked for where there is nothing. */
  readonly hasDocuments: boolean
  /** The model's window in tokens. */
  readonly contextWindow: number
  readonly embedder: Embedder | null
}

const MOST_PASSAGES = 8
/** Chosen documents that are together no longer than this go in whole, whatever is asked. */
const SMALL_CHARACTERS = 12_000
const CHARACTERS_PER_TOKEN = 4

/** Documents that are named in the metadata of a question. */
const chosenIds = z.array(z.uuid()).max(200).nullish().catch(null)

/**
 * Documents that the person chose beside the question, in their newest versions. Run as the person.
 * @param stored as its metadata names them
 */
export async function newestChosen(scope: Scope, stored: unknown): Promise<readonly string[]> {
  const ids = chosenIds.parse(stored) ?? []
  return ids.length === 0 ? ids : newestVersions(scope, ids)
}

/** Run as the person. `@knowledge` says what to look for and where; otherwise the whole message is looked for. */
export async function findPassages(
  scope: Scope,
  { before, calls, text }: ParsedMessage,
  { onlyQuotes, chosen, earlier, present, hasDocuments, contextWindow, embedder }: FindOptions,
): Promise<Retrieval> {
  const knowledge = calls.filter(({ name }) => name === 'knowledge')
  if (knowledge.length === 0) {
    const nothing = {
      asked: text,
      passages: [],
      messages: [],
      runs: new Map<ToolCall, ToolRun>(),
      meant: calls.length === 0 ? chosen : [],
      missing: [],
    }
    if (!hasDocuments || (onlyQuotes && calls.length > 0)) return nothing
    const whole = await findWhole(scope, text, { chosen, onlyQuotes, contextWindow })
    if (whole) return { ...nothing, ...whole }
    const documentIds = chosen.length > 0 ? { documentIds: chosen } : {}
    const asked = withItsSubject(text, earlier)
    const found = await searchDocuments(scope, asked, { limit: MOST_PASSAGES, joins: true, embedder, ...documentIds })
    return { ...nothing, ...found, asked }
  }
  const runs = new Map<ToolCall, ToolRun>()
  const passages: FoundPassage[] = []
  const messages: PastPassage[] = []
  const asked: string[] = []
  const traces: RetrievalTrace[] = []
  const missing: string[] = []
  const meant: string[] = []
  const share = Math.ceil(MOST_PASSAGES / knowledge.length)
  const lookUp = (question: string, named: readonly string[]) =>
    findWhole(scope, question, { chosen: named.length > 0 ? named : chosen, onlyQuotes, contextWindow })
  for (const call of knowledge) {
    const options = { limit: share, embedder, chosen, present, lookUp }
    const found = await searchKnowledge(scope, { argument: call.argument, before }, options)
    runs.set(call, found.run)
    asked.push(found.asked)
    traces.push(found.trace)
    missing.push(...found.missing)
    meant.push(...found.documentIds)
    for (const passage of found.passages)
      if (!passages.some((other) => isSamePassage(passage, other))) passages.push(passage)
    for (const said of found.messages) if (!messages.some((other) => isSameMessage(said, other))) messages.push(said)
  }
  const trace = joinTraces(traces)
  return { asked: asked.join(' '), passages, messages, runs, meant, missing, ...(trace ? { trace } : {}) }
}

type WholeOptions = Pick<FindOptions, 'chosen' | 'onlyQuotes' | 'contextWindow'>

/** Whole documents, where the question is about them, or where those chosen are small; undefined where passages will do. */
async function findWhole(
  scope: Scope,
  question: string,
  { chosen, onlyQuotes, contextWindow }: WholeOptions,
): Promise<{ passages: FoundPassage[]; trace: RetrievalTrace } | undefined> {
  const startedAt = performance.now()
  const isWhole = isAboutWhole(question)
  const isAsked = question.trim() !== ''
  if (!isWhole && (chosen.length === 0 || (isAsked && onlyQuotes))) return undefined
  const documentIds = chosen.length > 0 ? chosen : await chooseWhole(scope, question)
  if (!documentIds) return undefined
  const small = Math.min(SMALL_CHARACTERS, roomForSources(contextWindow))
  if (!isWhole && (await countCharacters(scope, documentIds)) > small) return undefined
  const passages = await readWhole(scope, documentIds)
  if (passages.length === 0) return undefined
  const characters = passages.reduce((sum, { text }) => sum + text.length, 0)
  const trace: RetrievalTrace = {
    scope: 'whole',
    query: question,
    terms: [],
    guessed: [],
    considered: [],
    matched: passages.length,
    tokens: Math.ceil(characters / CHARACTERS_PER_TOKEN),
    ms: performance.now() - startedAt,
    notes: [],
  }
  return { passages, trace }
}

/** Several commands of one message, as one. */
function joinTraces(traces: readonly RetrievalTrace[]): RetrievalTrace | undefined {
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
      },
    first,
  )
}
