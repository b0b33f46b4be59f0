/** The story of one answer: read the conversation, find passages, let a model (or the Reader) write, store the result. */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { READER_MODEL } from '#contract/limits.ts'
import { READING_STEP } from '#contract/reply-events.ts'
import { type ClaimedReply } from '#server/assistant/queue/claimed-reply.ts'
import { MAX_TRIES } from '#server/assistant/queue/claims.ts'
import { awaitDocuments } from '#server/assistant/retrieval/await-documents.ts'
import { type McpToolSet, createMcpTools } from '#server/assistant/tools/mcp-tools.ts'
import { MAX_TOOL_RUNS } from '#server/assistant/tools/outcome.ts'
import { quoteFindings } from '#server/assistant/tools/quote-findings.ts'
import { createResultBudget } from '#server/assistant/tools/result-budget.ts'
import { describeRejection, createToolDefinitions } from '#server/assistant/tools/tool-definitions.ts'
import { createToolRuns, type ToolRuns } from '#server/assistant/tools/tool-runs.ts'
import { isPassingFailure } from '#server/database/errors.ts'
import { GENERIC_PLANS, type Scope } from '#server/database/scope.ts'
import { type ChatPart } from '#server/providers/chat.ts'
import { type Embedder } from '#server/providers/embed.ts'
import { ProviderError } from '#server/providers/provider-error.ts'
import { readContext, listContextSources, type ReplyContext, loadPictures } from './context.ts'
import { type Interruptions, type ReplyDependencies } from './dependencies.ts'
import { addNote, checkDraft, createDraft, type Draft, finishDraft, MOST_UNCITED, toReplyError } from './draft.ts'
import { beginWriting } from './generate.ts'
import { createLiveText } from './live-text.ts'
import { startStopwatch } from './stopwatch.ts'

const STORE_AGAIN_MS = 250

/**
 * Answers one claimed question. Ends in exactly one stored message, or in none where the attempt is no longer the newest
 * or the server is shutting down.
 * @returns whether questions may be queued that were announced before this one had ended.
 * @throws what the database refused; the question is then claimed anew when its lease has run out.
 */
export async function answer(
  reply: ClaimedReply,
  { stopped, abandoned: endedOutside }: Interruptions,
  dependencies: ReplyDependencies,
): Promise<boolean> {
  const {
    database,
    limitReads: passToRead,
    providersOf,
    replyClaims: replies,
    replyLog,
    titles,
    externalTools: outsideTools,
    toolServers,
    log,
  } = dependencies
  const {
    embedderOf = () => Promise.resolve(null),
    documentWaitLimitMs: patience,
    backgroundThrottle,
    wakeCount: announced,
  } = dependencies
  let leave = backgroundThrottle?.beginForeground()
  const lost = new AbortController()
  const ended = AbortSignal.any([endedOutside, lost.signal])
  const signal = AbortSignal.any([stopped, ended])
  const writer = replyLog.open(reply, () => {
    log.info({ reply: reply.id }, 'a reply is no longer ours to write')
    lost.abort()
  })
  const draft = createDraft()
  const stopwatch = startStopwatch()
  let runs: ToolRuns | undefined
  let served: McpToolSet | undefined

  try {
    await writeWhole().catch((thrown: unknown) => {
      if (signal.aborted) return
      // A database that is away for a moment is not the model's failure: the question is begun anew.
      if (isPassingFailure(thrown)) throw thrown
      draft.error = toReplyError(thrown)
      log.warn({ err: thrown, reply: reply.id, model: draft.model }, 'a reply failed')
    })
    await reply.durable
    return ended.aborted || (await store(stopped.aborted))
  } finally {
    leave?.()
    writer.close()
    await served?.close()
  }

  function read<T>(run: (scope: Scope) => Promise<T>, settings: Readonly<Record<string, string>> = {}): Promise<T> {
    const owner = { sub: reply.owner, role: 'authenticated' } as const
    return passToRead(() => database.asUser(owner, run, { readOnly: true, settings }))
  }

  async function gatherRead(embedding: Promise<Embedder | null>): Promise<ReplyContext> {
    const tell = (status: string) => {
      if (reply.kind !== 'continue') writer.append({ type: 'tool', tool: { name: READING_STEP, status } })
    }
    let waitsSince: number | undefined
    for (;;) {
      const gathered = await read((scope) => readContext(scope, reply, embedding), GENERIC_PLANS)
      const { unread } = gathered
      const waitedMs = waitsSince === undefined ? 0 : performance.now() - waitsSince
      const patienceMs = (patience ?? unread.waitLimitMs) - waitedMs
      if (unread.awaitedIds.length === 0 || patienceMs <= 0) {
        if (waitsSince !== undefined) tell('done')
        return gathered
      }
      if (waitsSince === undefined) tell('running')
      waitsSince ??= performance.now()
      // Whoever reads them is waited for as well.
      leave?.()
      await awaitDocuments(unread, read, { patienceMs, signal })
      leave = backgroundThrottle?.beginForeground()
    }
  }

  async function writeWhole(): Promise<void> {
    if (reply.attempt > 1) await reply.durable
    // What goes on is shown as it was until it does.
    if (reply.attempt > 1 && reply.kind !== 'continue') writer.append({ type: 'restart' })
    if (reply.tries > MAX_TRIES)
      throw new ProviderError('provider_failed', `This question could not be answered in ${MAX_TRIES} attempts.`, {
        retryable: true,
      })
    signal.throwIfAborted()
    // Asked first, so that whoever reads holds no connection for which another one waits.
    const embedding = embedderOf(reply.owner, reply.hasOwnProviders)
    const [gathered, embedder] = await Promise.all([gatherRead(embedding), embedding])
    const { hasConnected: has } = gathered
    const [material, providers, servers] = await Promise.all([
      loadPictures(gathered, dependencies, signal),
      providersOf(reply.owner, has.providers),
      has.toolServers ? toolServers.listFor(reply.owner) : [],
    ])
    stopwatch.lap('found')
    begin(material)
    const { unfinished: previous, history, turnsInPrompt: present, model } = material
    const onLost = () => lost.abort()
    const firstRun = previous.text.length * MAX_TOOL_RUNS
    const {
      runCommands: runTyped,
      record,
      recordFailure,
    } = (runs = createToolRuns({
      reply,
      firstRun,
      writer,
      replyClaims: replies,
      externalTools: outsideTools,
      read,
      signal,
      log,
      onLost,
    }))
    const list = listContextSources(material)
    const findings = await runTyped(material.commands)
    if (material.commands.length > 0) stopwatch.lap('tools')
    signal.throwIfAborted()
    for (const finding of findings) list.addFinding(finding)
    const isQuoting = draft.model === READER_MODEL && findings.length > 0
    const sections = isQuoting ? await read((scope) => quoteFindings(scope, findings, list.numberOf)) : []
    const room = createResultBudget(model)
    served = createMcpTools({
      reply,
      servers,
      consents: toolServers.consents,
      record,
      budget: room,
      showConsentRequest: (run, name, request) =>
        writer.append({
          type: 'tool',
          tool: { name, status: request ? 'asking' : 'running', run, ...(request ? { request } : {}) },
        }),
    })
    const offered = createToolDefinitions({
      history,
      sources: list,
      turnsInPrompt: present,
      externalTools: outsideTools,
      read,
      record,
      budget: room,
      embedder,
    })
    const tools = [...offered, ...served.tools]
    const { conversationId } = reply
    const write = await beginWriting({
      conversationId,
      material,
      draft,
      writer,
      providers,
      findings,
      list,
      sections,
      tools,
      room,
      signal,
      database,
      log,
    })
    const isWhole = material.trace?.scope === 'whole'
    draft.used = findings.length === 0 ? list.all.slice(0, isWhole ? MOST_UNCITED : undefined) : previous.sources
    const live = createLiveText({ draft, writer, material, list })
    let hasBegun = false
    let recorded = Promise.resolve()
    // For each token: a signal that is made of others looks at them whenever it is asked.
    let isOver = signal.aborted
    signal.addEventListener('abort', () => (isOver = true), { once: true })
    const take = (part: ChatPart) => {
      if (isOver) return
      if (!hasBegun) {
        stopwatch.lap('begun')
        leave?.()
      }
      hasBegun = true
      if (part.type === 'finish') {
        const { tokensIn, tokensOut, isCut = false } = part
        Object.assign(draft, { tokensIn, tokensOut, isCut })
      } else if (part.type === 'text') live.push(part.text)
      else if (part.type === 'pictures-refused')
        addNote(draft, 'The model takes no pictures: only the text recognised in them was read.')
      else if (part.type === 'failed-call') {
        recorded = recorded.then(() => recordFailure(part.name, describeRejection(part.error)))
        // Awaited once the model has ended.
        recorded.catch(() => undefined)
      } else {
        draft.reasoning += part.text
        writer.append({ type: 'reasoning', text: part.text })
      }
    }
    await write(take).finally(() => recorded)
    signal.throwIfAborted()
    live.end()
    writer.requestFlush()
    stopwatch.lap('written')
    // The last words are sent before they are looked at as a whole. Where the database is away, storing tries again.
    await writer.flushed().catch(() => undefined)
    await nextTurn()
    checkDraft(draft, { material, list, cited: live.cited(), hasLooked: findings.length > 0 })
    stopwatch.lap('checked')
    if (!draft.hasNewText || draft.text.trim() === '')
      throw new ProviderError('provider_empty', 'The model answered with nothing. Try again, or choose another one.', {
        retryable: true,
      })
  }

  function begin({ model, isUntitled, trace, unread, unfinished: previous }: ReplyContext): void {
    Object.assign(draft, {
      model: model.identifier,
      provider: model.provider,
      isUntitled,
      trace,
      unread: trace ? unread.count : 0,
    } satisfies Partial<Draft>)
    if (reply.kind !== 'continue') return
    writer.append({ type: 'restart' })
    draft.text = previous.text
    writer.append({ type: 'text', text: previous.text })
  }

  /** Goes on trying while the database is away and the lease may still be ours. */
  async function store(isStopped: boolean): Promise<boolean> {
    for (;;) {
      try {
        await writer.flushed()
        if (lost.signal.aborted) return true
        const ending = { seq: writer.nextSeq(), isStopped, runs, steps: stopwatch.steps }
        const announcedBefore = announced()
        const { isStored, hasQueuedQuestions: othersWait } = await replies.finish(
          reply,
          finishDraft(draft, reply, ending),
        )
        if (isStored) suggestTitle(isStopped)
        return othersWait || announced() !== announcedBefore
      } catch (error) {
        if (!isPassingFailure(error) || ended.aborted) throw error
        await delay(STORE_AGAIN_MS)
      }
    }
  }

  /**
   * Only now that the answer is in, so that it waits for nothing; of a model that was stopped or failed nothing more is
   * asked.
   */
  function suggestTitle(isStopped: boolean): void {
    const { text, model, provider, error, isUntitled } = draft
    if (!isUntitled) return
    const { conversationId, owner } = reply
    const isAsked = !isStopped && !error && text !== '' && model !== READER_MODEL
    titles.suggest({ conversationId, owner, model: isAsked ? { provider, identifier: model } : null })
  }
}
