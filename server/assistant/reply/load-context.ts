import { READER_MODEL } from '#contract/product-names.ts'
import { OTHER_WORDS_STEP, READING_STEP } from '#contract/reply-events.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { countShortRequests } from '#server/assistant/lease/spending.ts'
import { isSentToModel } from '#server/assistant/prompt/prompt.ts'
import { awaitDocuments, waitLimitOf } from '#server/assistant/retrieval/await-documents.ts'
import { askForOtherWords, needsOtherWords } from '#server/assistant/retrieval/other-words.ts'
import type { ToolRun } from '#server/assistant/tools/outcome.ts'
import type { ConnectedServer } from '#server/connections/tool-servers.ts'
import type { Turn } from '#server/conversations/queries.ts'
import { GENERIC_PLANS } from '#server/database/scope.ts'
import type { ChatTurn } from '#server/providers/chat.ts'
import type { Embedder } from '#server/providers/embed.ts'
import { ProviderError } from '#server/providers/provider-error.ts'
import type { Providers } from '#server/providers/provider-registry.ts'
import type { Attempt } from './attempt.ts'
import { loadPictures, readContext, type ReplyContext, searchInOtherWords } from './context.ts'
import type { ReplyDependencies } from './dependencies.ts'
import { createTraceRecorder, type TraceRecorder } from './trace-recorder.ts'

/** Longer, and the answer to a hard question begins too late. */
const OTHER_WORDS_TIMEOUT_MS = 8_000

const NO_OTHER_WORDS = 'The model was asked for other words and gave none.'

export interface LoadedContext {
  readonly context: ReplyContext
  readonly trace: TraceRecorder
  readonly providers: Providers
  readonly servers: readonly ConnectedServer[]
  readonly embedder: Embedder | null
}

export async function loadContext(attempt: Attempt, dependencies: ReplyDependencies): Promise<LoadedContext> {
  const { reply, writer, signal, stopwatch } = attempt
  const { embedderOf = () => Promise.resolve(null), providersOf, toolServers } = dependencies
  // Resolved before taking a read connection: holding one connection while waiting for another can exhaust the pool.
  const embedding = embedderOf(reply.owner, reply.hasOwnProviders)
  const [read, embedder] = await Promise.all([readOnceReady(attempt, embedding, dependencies), embedding])
  const loadingProviders = providersOf(reply.owner, {
    hasPersonal: read.hasConnected.providers,
    spaceId: read.keysOfSpace,
  })
  if (!read.model.isOffered) await rejectNotOffered(read.model, await loadingProviders, dependencies)
  const [context, providers, servers] = await Promise.all([
    withOtherWords(attempt, read, loadingProviders, dependencies).then((found) =>
      // An answer may be written for minutes: the scores of all passages are not held meanwhile.
      loadPictures({ ...found, ranked: undefined }, dependencies, signal),
    ),
    loadingProviders,
    read.hasConnected.toolServers ? toolServers.listFor(reply.owner) : [],
  ])
  stopwatch.lap('found')
  if (reply.kind === 'continue') {
    writer.append({ type: 'restart' })
    writer.append({ type: 'text', text: context.unfinished.text })
  }
  return { context, trace: createTraceRecorder(context.trace), providers, servers, embedder }
}

/**
 * A key of the person or the space goes on reaching what the operator withdrew. A model that is unknown altogether, and models of
 * own servers, are rejected where they are asked.
 * @throws ProviderError `not_offered`
 */
async function rejectNotOffered(
  { provider, identifier }: ReplyContext['model'],
  providers: Providers,
  { database }: ReplyDependencies,
): Promise<void> {
  if (provider !== undefined && providers.isPersonal(provider, identifier)) return
  // The policies hide it from the person.
  const { rows } = await database.serviceStatement<{ name: string; instead: string | null }>(
    `select name, (select name from models where is_default and owner is null and space_id is null limit 1) as instead
     from models where model_identifier = $1 and owner is null and space_id is null and not is_offered and not is_default`,
    [identifier],
  )
  const [withdrawn] = rows
  if (!withdrawn) return
  const { name, instead } = withdrawn
  throw new ProviderError(
    'not_offered',
    `“${name}” is no longer offered here: choose another model${instead === null ? '' : `, such as “${instead}”`}.`,
    { retryable: false },
  )
}

async function readOnceReady(
  { reply, writer, read, signal, takePriority, releasePriority }: Attempt,
  embedding: Promise<Embedder | null>,
  { documentWaitLimitMs, passageTokens }: ReplyDependencies,
): Promise<ReplyContext> {
  const showStep = (status: string) => {
    if (reply.kind !== 'continue') writer.append({ type: 'tool', tool: { name: READING_STEP, status } })
  }
  let waitsSince: number | undefined
  for (;;) {
    const context = await read((scope) => readContext(scope, reply, embedding, passageTokens), GENERIC_PLANS)
    const { unread } = context
    const waitedMs = waitsSince === undefined ? 0 : performance.now() - waitsSince
    const waitLimitMs = waitLimitOf(unread, documentWaitLimitMs) - waitedMs
    if (unread.awaitedIds.length === 0 || waitLimitMs <= 0) {
      if (waitsSince !== undefined) showStep('done')
      return context
    }
    if (waitsSince === undefined) showStep('running')
    waitsSince ??= performance.now()
    // Background work reads the documents, so it must not be throttled during the wait.
    releasePriority()
    await awaitDocuments(unread, read, { waitLimitMs, signal })
    takePriority()
  }
}

/** Asks the answering model once for other words where the question's own find little; without them, what was found stays. */
async function withOtherWords(
  { reply, writer, read, signal, takePriority, releasePriority }: Attempt,
  context: ReplyContext,
  loadingProviders: Promise<Providers>,
  dependencies: ReplyDependencies,
): Promise<ReplyContext> {
  const { asksForOtherWords, otherWordsTimeoutMs = OTHER_WORDS_TIMEOUT_MS, log } = dependencies
  const { question, trace, model, languages, history, commands } = context
  if (!asksForOtherWords || model.identifier === READER_MODEL || reply.kind === 'continue') return context
  if (context.libraryAnswer || commands.length > 0 || trace === undefined || !needsOtherWords(question, trace))
    return context
  const startedAt = performance.now()
  const showStep = (status: string, ended: { readonly durationMs?: number } = {}) =>
    writer.append({ type: 'tool', tool: { name: OTHER_WORDS_STEP, status, ...ended } })
  showStep('running')
  releasePriority()
  const ask = async () => {
    const providers = await loadingProviders
    const charged = { ...model, isPersonal: providers.isPersonal(model.provider, model.identifier) }
    const { database, usageLimits: limits } = dependencies
    const chat = providers.chatModel(model.provider, model.identifier)
    return askForOtherWords({
      chat: countShortRequests(chat, { database, reply, charged, limits }),
      question,
      earlier: turnsBefore(history),
      languages,
      signal: AbortSignal.any([signal, AbortSignal.timeout(otherWordsTimeoutMs)]),
    })
  }
  const asked = await ask().catch((error: unknown) => {
    signal.throwIfAborted()
    log.info({ err: error, model: model.identifier }, 'a model gave no other words, the question is searched for alone')
    return undefined
  })
  takePriority()
  const otherWords = asked ?? []
  const found =
    otherWords.length === 0 ? context : await read((scope) => searchInOtherWords(scope, context, otherWords))
  const durationMs = Math.round(performance.now() - startedAt)
  showStep('done', { durationMs })
  const step: ToolRun = {
    name: OTHER_WORDS_STEP,
    status: asked === undefined ? 'failed' : 'done',
    durationMs,
    content: otherWords.length === 0 ? NO_OTHER_WORDS : otherWords.join('\n'),
  }
  const notes = asked === undefined ? [...trace.notes, NO_OTHER_WORDS] : undefined
  return { ...found, steps: [step], ...(notes ? { trace: { ...trace, notes } } : {}) }
}

const turnsBefore = (history: readonly Turn[]): ChatTurn[] =>
  history
    .slice(0, -1)
    .filter(isSentToModel)
    .map(({ sender_role, content }) => ({
      role: sender_role === SENDER_ROLES.user ? ('user' as const) : ('assistant' as const),
      content,
    }))
