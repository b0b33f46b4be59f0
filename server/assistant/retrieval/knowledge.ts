/** `@knowledge`: searches the person's documents and earlier conversations, or only the documents named first. */
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { type RetrievalTrace, TRACE_CHARACTERS_PER_TOKEN } from '#contract/trace.ts'
import { findMissingName, parseLeadingNames } from '#server/assistant/tools/named-documents.ts'
import type { ToolRun } from '#server/assistant/tools/outcome.ts'
import type { TurnsInPrompt } from '#server/conversations/earlier-message-queries.ts'
import type { Scope } from '#server/database/scope.ts'
import { listNamedIn } from '#server/documents/store/library.ts'
import type { Embedder } from '#server/providers/embed.ts'
import { type FoundPassage, isSamePassage, readOpenings } from '#server/search/read-passages.ts'
import { searchDocuments } from '#server/search/search.ts'
import { type EarlierMessages, searchEarlierMessages, type EarlierMessagePassage } from './earlier-messages.ts'

export async function parseDocumentNames(
  scope: Scope,
  argument: string,
): Promise<ReturnType<typeof parseLeadingNames>> {
  return parseLeadingNames(argument, await listNamedIn(scope, argument))
}

const NOTHING_ANYWHERE = 'Nothing in the documents or in earlier conversations fits.'

function withEarlierMessages(trace: RetrievalTrace, { messages, considered }: EarlierMessages): RetrievalTrace {
  const characters = messages.reduce((sum, { text }) => sum + text.length, 0)
  return {
    ...trace,
    messages: [...considered],
    tokens: trace.tokens + Math.ceil(characters / TRACE_CHARACTERS_PER_TOKEN),
  }
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

const describe = ({ filename, page, text }: FoundPassage) => `${filename} p.${page}: ${oneLine(text)}`

const describeMessage = ({ title, senderRole, createdAt, text }: EarlierMessagePassage) => {
  const speaker = senderRole === SENDER_ROLES.user ? 'you' : 'the answer'
  return `${oneLine(title ?? '') || 'A conversation'}, ${createdAt.slice(0, 10)}, ${speaker}: ${oneLine(text)}`
}

export interface KnowledgeOptions {
  readonly limit: number
  readonly embedder?: Embedder | null
  readonly chosen?: readonly string[]
  /** Turns that the prompt already contains. Other messages are searched unless documents are named or chosen. */
  readonly turnsInPrompt: TurnsInPrompt
  /** Reads the whole documents that a question is about; undefined where passages suffice. */
  readonly readWholeDocuments?: (
    question: string,
    named: readonly string[],
  ) => Promise<{ passages: FoundPassage[]; trace: RetrievalTrace } | undefined>
}

const MAX_CONTENT_CHARACTERS = 20_000
/** Documents come first, as messages about them may contain less. */
const MAX_MESSAGES = 3
const NO_EARLIER_MESSAGES: EarlierMessages = { messages: [], considered: [] }

/** Runs as the person. The text `before` the command is the question if the argument has none. */
export async function searchKnowledge(
  scope: Scope,
  { argument, before }: { argument: string; before: string },
  { limit, embedder = null, chosen = [], turnsInPrompt, readWholeDocuments }: KnowledgeOptions,
): Promise<{
  query: string
  passages: FoundPassage[]
  messages: readonly EarlierMessagePassage[]
  run: ToolRun
  trace: RetrievalTrace
  documentIds: readonly string[]
  missingDocumentNotes: readonly string[]
}> {
  const startedAt = performance.now()
  const { documentIds: named, question } = await parseDocumentNames(scope, argument)
  const query = question || before
  const missingName = findMissingName(question)
  const missingDocumentNotes = missingName === undefined ? [] : [`There is no document named “${missingName}”.`]
  const documentIds = named.length > 0 ? named : chosen
  const isNarrowed = documentIds.length > 0
  const whole = await readWholeDocuments?.(query, named)
  const found =
    whole ??
    (await searchDocuments(scope, query, { limit, joins: true, embedder, ...(isNarrowed ? { documentIds } : {}) }))
  const searchesMessages = whole === undefined && !isNarrowed
  const earlier = searchesMessages
    ? await searchEarlierMessages(scope, query, { turnsInPrompt, limit: MAX_MESSAGES })
    : NO_EARLIER_MESSAGES
  const passages = [...found.passages]
  if (named.length > 0 && passages.length < limit) {
    for (const opening of await readOpenings(scope, named, limit)) {
      const isShown = passages.some((passage) => isSamePassage(passage, opening) || contains(passage, opening))
      if (passages.length < limit && !isShown) passages.push(opening)
    }
  }
  const described = [...passages.map(describe), ...earlier.messages.map(describeMessage)]
  const nothing = searchesMessages ? NOTHING_ANYWHERE : 'Nothing in the documents fits.'
  const content = [...missingDocumentNotes, ...(described.length > 0 ? described : [nothing])].join('\n\n')
  const trace = searchesMessages ? withEarlierMessages(found.trace, earlier) : found.trace
  return {
    query,
    passages,
    messages: earlier.messages,
    trace: { ...trace, notes: [...missingDocumentNotes, ...trace.notes] },
    documentIds,
    missingDocumentNotes,
    run: {
      name: 'knowledge',
      status: 'done',
      durationMs: Math.round(performance.now() - startedAt),
      content: content.slice(0, MAX_CONTENT_CHARACTERS).toWellFormed(),
    },
  }
}

const contains = (outer: FoundPassage, inner: FoundPassage) =>
  outer.documentId === inner.documentId &&
  outer.page === inner.page &&
  outer.start <= inner.start &&
  inner.end <= outer.end
