/** The story of one answer: read the conversation, find passages, let a model (or the Reader) write, store the result. */
import { READER_MODEL } from '#contract/limits.ts'
import { type MessageRow, type ReplyError } from '#contract/message.ts'
import { type ReplyPart } from '#contract/reply-events.ts'
import { type Source } from '#contract/source.ts'
import { type Log } from '#server/base/log.ts'
import { getConversation, listMessages } from '#server/conversations/queries.ts'
import { type Claims, type Database, type Scope } from '#server/database/scope.ts'
import { searchPassages } from '#server/documents/search.ts'
import { type ChatPart, ProviderError } from '#server/providers/chat.ts'
import { type Providers } from '#server/providers/choose.ts'
import { createMarkerFilter } from './citations.ts'
import { buildPrompt } from './prompt.ts'
import { chooseQuotes, prepareReading, writeReading } from './reader.ts'
import { type ReplyLog } from './reply-log.ts'
import { type ClaimedReply, MAX_ATTEMPTS, type Replies } from './replies.ts'

const PASSAGES_FOR_A_MODEL = 8
/** Older turns than these are not even read: no window of today holds more. */
const HISTORY_LIMIT = 200

interface Material {
  readonly history: readonly MessageRow[]
  readonly model: { readonly identifier: string; readonly provider: string | undefined; readonly contextWindow: number }
  readonly sources: readonly Source[]
  /** Documents that cannot be searched yet. */
  readonly unreadDocuments: number
}

/** Why the writing of an answer was ended from outside. */
export type Interruption = 'stopped' | 'lost' | 'shutdown'

export interface ReplyDependencies {
  readonly database: Database
  readonly providers: Providers
  readonly replies: Replies
  readonly replyLog: ReplyLog
  readonly log: Log
}

/** Reads everything as the person who asked, so that the policies guard retrieval too. */
async function gather(scope: Scope, reply: ClaimedReply): Promise<Material> {
  const conversation = await getConversation(scope, reply.conversationId)
  const messages = await listMessages(scope, reply.conversationId, { limit: HISTORY_LIMIT })
  const asked = messages.findIndex(({ id }) => id === reply.messageId)
  const history = messages.slice(0, asked + 1)
  const question = history.at(-1)?.content ?? ''
  const models = await scope.query<{ provider: string; context_window: number }>(
    'select provider, context_window from models where model_identifier = $1',
    [conversation.model_name],
  )
  const passages = await searchPassages(scope, question, { limit: PASSAGES_FOR_A_MODEL })
  const found = passages.map((passage, index) => ({ n: index + 1, ...passage }))
  const unread = await scope.query<{ count: number }>(
    `select count(*) from documents where state in ('queued', 'reading')`,
  )
  const identifier = conversation.model_name
  return {
    history,
    model: { identifier, provider: models.rows[0]?.provider, contextWindow: models.rows[0]?.context_window ?? 8_000 },
    unreadDocuments: unread.rows[0]?.count ?? 0,
    // The Reader's sources are the very sentences that it quotes.
    sources: identifier === READER_MODEL ? chooseQuotes(await prepareReading(scope, question, found)) : found,
  }
}

function write(
  { history, model, sources, unreadDocuments }: Material,
  providers: Providers,
  signal: AbortSignal,
): AsyncIterable<ChatPart> {
  if (model.identifier === READER_MODEL) return writeReading(sources, unreadDocuments)
  const chat = providers.chatModel(model.provider, model.identifier)
  const { system, turns } = buildPrompt({ history, sources, unreadDocuments, contextWindow: model.contextWindow })
  return chat.stream({ system, turns, signal })
}

/** A model that cites says itself what it used; one that does not leaves all that it was given. */
function usedSources(sources: readonly Source[], cited: ReadonlySet<number>): readonly Source[] {
  return cited.size === 0 ? sources : sources.filter(({ n }) => cited.has(n))
}

function toReplyError(error: unknown): ReplyError {
  if (error instanceof ProviderError) return { code: error.code, message: error.message, retryable: error.retryable }
  return { code: 'internal', message: 'Something went wrong while the answer was written. Try again.', retryable: true }
}

/**
 * Answers one claimed question. Ends in exactly one stored message, or in none where the attempt is no longer the newest
 * or the server is shutting down.
 * @param signal aborted with an `Interruption` as its reason.
 */
export async function answer(reply: ClaimedReply, signal: AbortSignal, dependencies: ReplyDependencies): Promise<void> {
  const { database, providers, replies, replyLog, log } = dependencies
  const writer = replyLog.open(reply, () => log.info({ reply: reply.id }, 'another worker has taken this reply over'))
  const owner: Claims = { sub: reply.owner, role: 'authenticated' }
  let text = ''
  let model = ''
  let used: readonly Source[] = []
  let tokensIn: number | null = null
  let tokensOut: number | null = null
  let error: ReplyError | undefined

  try {
    if (reply.attempt > 1) writer.append({ type: 'restart' })
    if (reply.attempt > MAX_ATTEMPTS) {
      throw new ProviderError('provider_failed', `This question could not be answered in ${MAX_ATTEMPTS} attempts.`, {
        retryable: true,
      })
    }
    const material = await database.asUser(owner, (scope) => gather(scope, reply), { readOnly: true })
    model = material.model.identifier
    const { sources } = material
    const parts = write(material, providers, signal)
    used = sources
    const filter = createMarkerFilter(new Set(sources.map(({ n }) => n)))
    const show = (shown: string) => {
      if (shown === '') return
      // With the first words, not before: what goes out first is not followed by anything for a tenth of a second.
      if (text === '') for (const source of sources) writer.append({ type: 'source', source })
      text += shown
      writer.append({ type: 'text', text: shown })
    }
    for await (const part of parts) {
      signal.throwIfAborted()
      if (part.type === 'finish') ({ tokensIn, tokensOut } = part)
      else if (part.type === 'text') show(filter.push(part.text))
      else writer.append({ type: 'reasoning', text: part.text })
    }
    signal.throwIfAborted()
    show(filter.end())
    used = usedSources(sources, filter.cited)
  } catch (thrown) {
    if (signal.aborted && signal.reason !== 'stopped') {
      writer.close()
      return
    }
    if (!signal.aborted) {
      error = toReplyError(thrown)
      log.warn({ err: thrown, reply: reply.id, model }, 'a reply failed')
    }
  }

  await store()

  async function store(): Promise<void> {
    try {
      await writer.flushed()
      const state = error ? 'failed' : signal.aborted ? 'stopped' : 'done'
      const metadata = {
        model,
        sources: used,
        ...(error ? { error } : {}),
        ...(state === 'stopped' ? { stopped: true } : {}),
      }
      const end: Pick<ReplyPart, 'type' | 'error'> = error
        ? { type: 'error', error }
        : { type: state === 'stopped' ? 'stopped' : 'done' }
      const lastPart = {
        replyId: reply.id,
        messageId: reply.answerId,
        attempt: reply.attempt,
        seq: writer.nextSeq(),
        ...end,
      }
      await replies.finish(reply, { content: text, tokensIn, tokensOut, metadata, state, lastPart })
    } finally {
      writer.close()
    }
  }
}
