/** Claims questions, renews the leases of running replies, and releases them on shutdown. */
import { type ClaimedReply, parseClaim } from '#server/assistant/lease/claimed-reply.ts'
import { LEASE_S } from '#server/assistant/lease/claims.ts'
import type { PersonalToolServers, ReplyDependencies } from '#server/assistant/reply/dependencies.ts'
import { answer } from '#server/assistant/reply/reply.ts'
import { createTitles } from '#server/assistant/titles/titles.ts'
import { createExternalTools, type ExternalToolsOptions } from '#server/assistant/tools/external-tools.ts'
import { runInFailureScope } from '#server/base/failure-scope.ts'
import type { Log } from '#server/base/log.ts'
import { repeat } from '#server/base/repeat.ts'
import { createSemaphore } from '#server/base/semaphore.ts'
import { createToolConsents } from '#server/connections/tool-consent.ts'
import { STOP_CHANNEL } from '#server/conversations/reply-queries.ts'
import type { DirectDispatch } from '#server/database/direct-dispatch.ts'
import type { Listener } from '#server/database/listen.ts'

const POLL_INTERVAL_MS = 2_000
const RENEWAL_INTERVAL_MS = 2_000
/** Above this share of the capacity, questions go through the queue, which balances people fairly. */
const DIRECT_DISPATCH_SHARE = 0.5
/** Fewer than there are database connections, which other requests need as well. */
const MAX_CONCURRENT_READS = 8

interface Running {
  readonly reply: ClaimedReply
  readonly stop: () => void
  readonly abandon: () => void
  readonly done: Promise<void>
  renewedAt: number
}

export interface WorkerOptions extends Omit<
  ReplyDependencies,
  'limitReads' | 'titles' | 'externalTools' | 'toolServers' | 'wakeCount'
> {
  readonly listener: Listener
  readonly log: Log
  readonly capacity: number
  readonly titleTimeoutMs?: number
  readonly toolServers?: PersonalToolServers
  readonly externalToolOptions?: Omit<ExternalToolsOptions, 'log'>
}

export interface Worker {
  running(): number
  /** For transactions that store questions: while a slot is free, a question skips the queue. */
  readonly directDispatch: DirectDispatch
  stop(): Promise<void>
}

async function renewLeases(
  running: ReadonlyMap<string, Running>,
  { replyClaims, log }: Pick<ReplyDependencies, 'replyClaims' | 'log'>,
): Promise<void> {
  if (running.size === 0) return
  const mine = [...running.values()]
  const startedAt = performance.now()
  try {
    const renewed = await replyClaims.renew(mine.map(({ reply }) => reply))
    for (const entry of mine) {
      const renewal = renewed.get(entry.reply.id)
      if (renewal === undefined) entry.abandon()
      else entry.renewedAt = startedAt
      if (renewal?.stopRequested) entry.stop()
    }
  } catch (error) {
    log.warn({ err: error }, 'leases could not be renewed')
    for (const entry of mine) if (performance.now() - entry.renewedAt > LEASE_S * 1000) entry.abandon()
  }
}

export async function startWorker({
  listener,
  capacity,
  titleTimeoutMs,
  externalToolOptions = { webSearch: null },
  ...options
}: WorkerOptions): Promise<Worker> {
  const { replyClaims, log, database, providersOf } = options
  const titles = createTitles({
    database,
    providersOf,
    log,
    timeoutMs: titleTimeoutMs,
    usageLimits: options.usageLimits,
  })
  const externalTools = createExternalTools({ ...externalToolOptions, log })
  const toolServers = options.toolServers ?? {
    listFor: () => Promise.resolve([]),
    consents: createToolConsents(database, listener),
  }
  let wakeCount = 0
  const limitReads = createSemaphore(MAX_CONCURRENT_READS)
  const dependencies = { ...options, titles, externalTools, toolServers, limitReads, wakeCount: () => wakeCount }
  const running = new Map<string, Running>()
  let isStopping = false
  let isClaiming = false
  let claiming = Promise.resolve()

  function start(reply: ClaimedReply, claimedAt: number): void {
    const [stopped, ended] = [new AbortController(), new AbortController()]
    if (reply.stopRequested) stopped.abort()
    const signals = { stopped: stopped.signal, abandoned: ended.signal }
    const run = () => answer(reply, signals, dependencies)
    // The reply begins again when its lease has run out.
    const done = runInFailureScope(() => ended.abort(), run)
      .catch((error: unknown) => {
        log.error({ err: error, reply: reply.id }, 'an answer could not be stored; its lease will run out')
        return true
      })
      .then((mayOthersWait) => {
        running.delete(reply.id)
        if (mayOthersWait) wake()
      })
    running.set(reply.id, {
      reply,
      done,
      stop: () => stopped.abort(),
      abandon: () => ended.abort(),
      renewedAt: claimedAt,
    })
  }

  const directDispatch: DirectDispatch = {
    settings: () =>
      isStopping || running.size >= DIRECT_DISPATCH_SHARE * capacity ? {} : replyClaims.directDispatchSettings,
    accept(claimed, flushed) {
      const reply = parseClaim(claimed, flushed)
      if (!isStopping) return start(reply, performance.now())
      replyClaims.release([reply]).catch((error: unknown) => {
        log.warn({ err: error, reply: reply.id }, 'a question could not be given back; its lease will run out')
      })
    },
  }

  async function claim(): Promise<void> {
    try {
      for (let answered = -1; answered !== wakeCount;) {
        answered = wakeCount
        const free = capacity - running.size
        if (free <= 0 || isStopping) return
        const claimedAt = performance.now()
        for (const reply of await replyClaims.claim(free, [...running.keys()])) start(reply, claimedAt)
      }
    } catch (error) {
      log.warn({ err: error }, 'the queue of questions cannot be read')
    } finally {
      // Synchronous with the last comparison of `wakeCount`: a later wake starts a new claim.
      isClaiming = false
    }
  }

  function wake(): void {
    wakeCount += 1
    if (isClaiming) return
    isClaiming = true
    claiming = claim()
  }

  const stopListening = [
    await listener.on('replies', wake),
    await listener.on(STOP_CHANNEL, (id) => running.get(id)?.stop()),
  ]
  listener.onReconnect(wake)
  const sweep = repeat(wake, POLL_INTERVAL_MS)
  const renewal = repeat(() => renewLeases(running, options), RENEWAL_INTERVAL_MS)
  wake()

  return {
    running: () => running.size,
    directDispatch,
    async stop() {
      isStopping = true
      clearInterval(sweep)
      clearInterval(renewal)
      for (const end of stopListening) end()
      await claiming
      const left = [...running.values()]
      for (const entry of left) entry.abandon()
      await Promise.all(left.map(({ done }) => done))
      if (left.length > 0) await replyClaims.release(left.map(({ reply }) => reply))
      await titles.stop()
    },
  }
}
