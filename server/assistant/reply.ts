/** The story of one answer: read the conversation, find passages, let a model (or the Reader) write, store the result. */
import { setTimeout as delay } from 'node:timers/promises'
import { READER_MODEL } from '#contract/limits.ts'
import { type ReplyError } from '#contract/message.ts'
import { type Source } from '#contract/source.ts'
import { type Log } from '#server/base/log.ts'
import { getConversation, isUntitled, readTurns, type Turn } from '#server/conversations/queries.ts'
import { isPassingFailure } from '#server/database/errors.ts'
import { type Claims, type Database, type Scope } from '#server/database/scope.ts'
import { type ChatPart, ProviderError } from '#server/providers/chat.ts'
import { type Providers } from '#server/providers/choose.ts'
import { createMarkerFilter } from './citations.ts'
import { findPassages } from './passages.ts'
import { buildPrompt } from './prompt.ts'
import { chooseQuotes, openingQuotes, prepareReading, writeReading } from './reader.ts'
import { type ReplyLog } from './reply-log.ts'
import { type ClaimedReply, type FinishedAnswer, MAX_TRIES, type Replies } from './replies.ts'
import { type Titles } from './titles.ts'
import { parseCommands, type ToolCall } from './tools/commands.ts'
import { type Finding, type ToolRun } from './tools/outcome.ts'
import { quoteFindings } from './tools/reading.ts'
import { type OutsideTools } from './tools/run.ts'

/** Older turns than these are not even read: no window of today holds more. */
const HISTORY_LIMIT = 200
const STORE_AGAIN_MS = 250

interface Material {
  readonly isUntitled: boolean
  readonly history: readonly Turn[]
  readonly model: { readonly identifier: string; readonly provider: string | undefined; readonly contextWindow: number }
  readonly sources: readonly Source[]
  /** Documents that cannot be searched yet. */
  readonly unreadDocuments: number
  /** The tools that the question asks for, each with its run where it has had it. */
  readonly tools: readonly { readonly call: ToolCall; readonly run: ToolRun | undefined }[]
}

/** How the writing of an answer is ended from outside. */
export interface Interruptions {
  /** The person wants no more: what is written is kept. */
  readonly stopped: AbortSignal
  /** Another worker has the reply, or the server is stopping: nothing is kept. */
  readonly ended: AbortSignal
}

export interface ReplyDependencies {
  readonly database: Database
  /** Bounds how many read at once, so that a rush of questions leaves connections to everyone else. */
  readonly passToRead: <T>(run: () => Promise<T>) => Promise<T>
  readonly providers: Providers
  readonly replies: Replies
  readonly replyLog: ReplyLog
  readonly titles: Titles
  readonly outsideTools: OutsideTools
  readonly log: Log
}

/** Reads everything as the person who asked, so that the policies guard retrieval too. */
async function gather(scope: Scope, reply: ClaimedReply): Promise<Material> {
  const [conversation, history, unread] = await Promise.all([
    getConversation(scope, reply.conversationId),
    readTurns(scope, reply.conversationId, reply.messageId, HISTORY_LIMIT),
    scope.query<{ count: number }>(`select count(*) from documents where state in ('queued', 'reading')`),
  ])
  const question = history.at(-1)?.content ?? ''
  const identifier = conversation.model_name
  const parsed = parseCommands(question)
  const [models, { asked, passages, runs }] = await Promise.all([
    scope.query<{ provider: string; context_window: number }>(
      'select provider, context_window from models where model_identifier = $1',
      [identifier],
    ),
    findPassages(scope, parsed, { onlyWhereAsked: identifier === READER_MODEL }),
  ])
  const found = passages.map((passage, index) => ({ n: index + 1, ...passage }))
  return {
    isUntitled: isUntitled(conversation.title),
    history,
    model: { identifier, provider: models.rows[0]?.provider, contextWindow: models.rows[0]?.context_window ?? 8_000 },
    unreadDocuments: unread.rows[0]?.count ?? 0,
    // The Reader's sources are the very sentences that it quotes.
    sources: identifier === READER_MODEL ? await quote(scope, asked, found) : found,
    tools: parsed.calls.map((call) => ({ call, run: runs.get(call) })),
  }
}

async function quote(scope: Scope, asked: string, found: readonly Source[]): Promise<Source[]> {
  const reading = await prepareReading(scope, asked, found)
  return asked === '' ? openingQuotes(reading) : chooseQuotes(reading)
}

/** @param sections what the Reader quotes of the findings; null where no tool looked outside the documents. */
function write(
  { history, model, sources, unreadDocuments }: Material,
  findings: readonly Finding[],
  sections: readonly string[] | null,
  providers: Providers,
  signal: AbortSignal,
): AsyncIterable<ChatPart> {
  if (model.identifier === READER_MODEL) {
    return writeReading({ quotes: sources, unreadDocuments, sections, hasModels: providers.configured.length > 0 })
  }
  const chat = providers.chatModel(model.provider, model.identifier)
  const { contextWindow } = model
  const { system, turns } = buildPrompt({ history, sources, unreadDocuments, findings, contextWindow })
  return chat.stream({ system, turns, signal })
}

/**
 * A model that cites says itself what it used; one that does not leaves all that it was given, unless it was sent to look
 * somewhere else.
 */
function usedSources(
  sources: readonly Source[],
  cited: ReadonlySet<number>,
  looked: readonly Finding[],
): readonly Source[] {
  return cited.size === 0 && looked.length === 0 ? sources : sources.filter(({ n }) => cited.has(n))
}

function toReplyError(error: unknown): ReplyError {
  if (error instanceof ProviderError) return { code: error.code, message: error.message, retryable: error.retryable }
  return { code: 'internal', message: 'Something went wrong while the answer was written. Try again.', retryable: true }
}

/** What an answer came to, as far as it came. */
interface Written {
  text: string
  model: string
  provider: string | undefined
  isUntitled: boolean
  used: readonly Source[]
  tokensIn: number | null
  tokensOut: number | null
  error: ReplyError | undefined
}

/**
 * Answers one claimed question. Ends in exactly one stored message, or in none where the attempt is no longer the newest
 * or the server is shutting down.
 * @throws what the database refused; the question is then claimed anew when its lease has run out.
 */
export async function answer(
  reply: ClaimedReply,
  { stopped, ended: endedOutside }: Interruptions,
  dependencies: ReplyDependencies,
): Promise<void> {
  const { database, passToRead, providers, replies, replyLog, titles, outsideTools, log } = dependencies
  const lost = new AbortController()
  const ended = AbortSignal.any([endedOutside, lost.signal])
  const signal = AbortSignal.any([stopped, ended])
  const writer = replyLog.open(reply, () => {
    log.info({ reply: reply.id }, 'a reply is no longer ours to write')
    lost.abort()
  })
  const written: Written = {
    text: '',
    model: '',
    provider: undefined,
    isUntitled: false,
    used: [],
    tokensIn: null,
    tokensOut: null,
    error: undefined,
  }

  try {
    await writeWhole().catch((thrown: unknown) => {
      if (signal.aborted) return
      // A database that is away for a moment is not the model's failure: the question is begun anew.
      if (isPassingFailure(thrown)) throw thrown
      written.error = toReplyError(thrown)
      log.warn({ err: thrown, reply: reply.id, model: written.model }, 'a reply failed')
    })
    if (!ended.aborted) await store(stopped.aborted)
  } finally {
    writer.close()
  }

  function read<T>(run: (scope: Scope) => Promise<T>): Promise<T> {
    const owner: Claims = { sub: reply.owner, role: 'authenticated' }
    return passToRead(() => database.asUser(owner, run, { readOnly: true }))
  }

  /** Runs what has not been run, side by side; resolves with what was found outside once all runs are stored. */
  async function runTools(tools: Material['tools']): Promise<Finding[]> {
    if (tools.length === 0) return []
    for (const { call } of tools) writer.append({ type: 'tool', tool: { name: call.name, status: 'running' } })
    const outcomes = await Promise.all(
      tools.map(async ({ call, run }) => (run ? { run } : await outsideTools.run(call, signal))),
    )
    const runs = outcomes.map(({ run }) => run)
    for (const { name, status, durationMs } of runs) writer.append({ type: 'tool', tool: { name, status, durationMs } })
    if (!(await replies.storeToolRuns(reply, runs))) lost.abort()
    return outcomes.flatMap(({ finding }) => finding ?? [])
  }

  async function writeWhole(): Promise<void> {
    if (reply.attempt > 1) writer.append({ type: 'restart' })
    if (reply.tries > MAX_TRIES) {
      throw new ProviderError('provider_failed', `This question could not be answered in ${MAX_TRIES} attempts.`, {
        retryable: true,
      })
    }
    signal.throwIfAborted()
    const material = await read((scope) => gather(scope, reply))
    const { sources } = material
    written.model = material.model.identifier
    written.provider = material.model.provider
    written.isUntitled = material.isUntitled
    const findings = await runTools(material.tools)
    signal.throwIfAborted()
    const isQuoting = written.model === READER_MODEL && findings.length > 0
    const sections = isQuoting ? await read((scope) => quoteFindings(scope, findings)) : null
    const parts = write(material, findings, sections, providers, signal)
    written.used = findings.length === 0 ? sources : []
    const filter = createMarkerFilter(new Set(sources.map(({ n }) => n)))
    const show = (shown: string) => {
      if (shown === '') return
      // With the first words, not before: what goes out first is not followed by anything for a tenth of a second.
      if (written.text === '') for (const source of sources) writer.append({ type: 'source', source })
      written.text += shown
      writer.append({ type: 'text', text: shown })
    }
    for await (const part of parts) {
      signal.throwIfAborted()
      if (part.type === 'finish') Object.assign(written, { tokensIn: part.tokensIn, tokensOut: part.tokensOut })
      else if (part.type === 'text') show(filter.push(part.text))
      else writer.append({ type: 'reasoning', text: part.text })
    }
    signal.throwIfAborted()
    show(filter.end())
    written.used = usedSources(sources, filter.cited, findings)
    if (written.text.trim() === '') {
      throw new ProviderError('provider_empty', 'The model answered with nothing. Try again, or choose another one.', {
        retryable: true,
      })
    }
  }

  /** Goes on trying while the database is away and the lease may still be ours. */
  async function store(isStopped: boolean): Promise<void> {
    for (;;) {
      try {
        await writer.flushed()
        if (lost.signal.aborted) return
        const isStored = await replies.finish(reply, finished(writer.nextSeq(), isStopped))
        if (isStored) suggestTitle(isStopped)
        return
      } catch (error) {
        if (!isPassingFailure(error) || ended.aborted) throw error
        await delay(STORE_AGAIN_MS)
      }
    }
  }

  /** Only now that the answer is in, so that it waits for nothing; of a model that was stopped nothing more is asked. */
  function suggestTitle(isStopped: boolean): void {
    const { text, model, provider, error } = written
    if (!written.isUntitled || error || text === '') return
    const { conversationId, owner } = reply
    titles.suggest({
      conversationId,
      owner,
      model: isStopped || model === READER_MODEL ? null : { provider, identifier: model },
    })
  }

  function finished(seq: number, isStopped: boolean): FinishedAnswer {
    const { text, model, used, tokensIn, tokensOut, error } = written
    const state = error ? 'failed' : isStopped ? 'stopped' : 'done'
    const type = error ? 'error' : isStopped ? 'stopped' : 'done'
    return {
      content: text,
      tokensIn,
      tokensOut,
      state,
      metadata: {
        model,
        sources: used,
        ...(error ? { error } : {}),
        ...(state === 'stopped' ? { stopped: true } : {}),
      },
      lastPart: {
        replyId: reply.id,
        messageId: reply.answerId,
        attempt: reply.attempt,
        seq,
        type,
        ...(error ? { error } : {}),
      },
    }
  }
}
