/** Live parts of replies: one statement per 100 ms logs and sends all of them; first and last words are urgent. */
import { randomUUID } from 'node:crypto'
import { conversationTopic, REPLY_EVENT, type ReplyPart } from '#contract/reply-events.ts'
import type { ClaimedReply } from '#server/assistant/lease/claimed-reply.ts'
import { toError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { isTransientFailure } from '#server/database/errors.ts'
import type { ServiceChannel } from '#server/database/service-channel.ts'

type PartBody = Pick<ReplyPart, 'type' | 'text' | 'tool' | 'source' | 'error'>

const FLUSH_INTERVAL_MS = 100
/** The interval between urgent writes is 1 ms for each open reply, up to this limit, so that many replies share them. */
const URGENT_INTERVAL_MS = 20
/** Urgent writes that need not wait, so that the last words of a few replies are sent at once. */
const URGENT_BURST = 4

export interface ReplyWriter {
  append(part: PartBody): void
  /** Sends the appended parts at once, since nothing more follows soon. */
  requestFlush(): void
  /** Resolves when all appended parts are logged and sent. @throws while the database does not accept them. */
  flushed(): Promise<void>
  /** Sequence number of the next part; valid only after `flushed`. */
  nextSeq(): number
  close(): void
}

export interface ReplyLog {
  /** @param onLost called when the reply belongs to a newer attempt or cannot be written. */
  open(reply: ClaimedReply, onLost: () => void): ReplyWriter
}

/** Delivers a part to viewers on this node before it is persisted. The next attempt shows lost parts again. */
export type DeliverEarly = (broadcast: {
  readonly id: string
  readonly topic: string
  readonly event: string
  readonly payload: ReplyPart
}) => void

const WRITE = `
  with incoming as (
    select * from jsonb_to_recordset($1) as p(reply_id uuid, attempt integer, seq integer, topic text, payload jsonb)
  ), live as (
    -- The lock waits for a deletion in progress, which would otherwise fail the statement, and send each reply's parts again.
    select i.*, r.owner from incoming i join replies r on r.id = i.reply_id and r.attempt = i.attempt and r.state = 'running'
    for key share of r
  ), logged as (
    insert into reply_parts (reply_id, attempt, seq, owner, payload)
    select reply_id, attempt, seq, owner, payload from live
    on conflict do nothing
  ), sent as (
    select reply_id, realtime.send(payload, $2, topic, true) from (select * from live order by reply_id, seq) ordered
  )
  select distinct reply_id as id from sent`

interface OpenReply {
  readonly reply: ClaimedReply
  readonly onLost: () => void
  seq: number
  /** Not numbered yet: the last text may still grow. */
  readonly pending: PartBody[]
  /** Numbered and delivered on this node, but not persisted yet. */
  readonly unwritten: ReplyPart[]
  failure: Error | undefined
  /** Whether the claim is durable; nothing is sent before that. */
  isDurable: boolean
}

const hasUnwrittenParts = ({ pending, unwritten }: OpenReply): boolean => pending.length > 0 || unwritten.length > 0

const createOpenReply = (reply: ClaimedReply, onLost: () => void): OpenReply => ({
  reply,
  onLost,
  seq: 0,
  pending: [],
  unwritten: [],
  failure: undefined,
  isDurable: false,
})

function appendPart(pending: PartBody[], part: PartBody): void {
  const last = pending.at(-1)
  if (last && last.type === part.type && (part.type === 'text' || part.type === 'reasoning'))
    last.text = (last.text ?? '') + (part.text ?? '')
  else pending.push({ ...part })
}

function createFlushTimer(flush: () => void) {
  let scheduledAt = Number.POSITIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let immediate: NodeJS.Immediate | undefined
  function clear(): void {
    clearTimeout(timer)
    clearImmediate(immediate)
    scheduledAt = Number.POSITIVE_INFINITY
  }
  return {
    clear,
    runAt(at: number): void {
      if (at >= scheduledAt) return
      clear()
      scheduledAt = at
      const waitMs = at - performance.now()
      // Immediate for first words; parts that other replies append in the same turn join them.
      if (waitMs <= 0) immediate = setImmediate(flush)
      // A timer may fire slightly early.
      else timer = setTimeout(flush, Math.ceil(waitMs) + 1)
    },
  }
}

function numberParts(entry: OpenReply, deliverEarly: DeliverEarly | undefined): void {
  const { id: replyId, answerId: messageId, attempt, conversationId } = entry.reply
  const topic = conversationTopic(conversationId)
  for (const part of entry.pending.splice(0)) {
    entry.seq += 1
    const id = randomUUID()
    const payload = { id, replyId, messageId, attempt, seq: entry.seq, ...part }
    entry.unwritten.push(payload)
    deliverEarly?.({ id, topic, event: REPLY_EVENT, payload })
  }
}

function createPartsWriter(channel: ServiceChannel, log: Log, markLost: (entry: OpenReply) => void) {
  async function send(entries: readonly OpenReply[]): Promise<void> {
    const sent = entries.map(({ unwritten }) => [...unwritten])
    const rows = entries.flatMap(({ reply: { id, attempt, conversationId } }, index) => {
      const topic = conversationTopic(conversationId)
      return (sent[index] ?? []).map((payload) => ({ reply_id: id, attempt, seq: payload.seq, topic, payload }))
    })
    const { rows: accepted } = await channel.statement<{ id: string }>(WRITE, [JSON.stringify(rows), REPLY_EVENT])
    const alive = new Set(accepted.map(({ id }) => id))
    for (const [index, entry] of entries.entries()) {
      entry.unwritten.splice(0, sent[index]?.length)
      entry.failure = undefined
      if (!alive.has(entry.reply.id)) markLost(entry)
    }
  }

  /** A transient failure is retried with the next flush; parts that the database rejects must not block those of others. */
  async function write(entries: readonly OpenReply[]): Promise<void> {
    try {
      await send(entries)
    } catch (thrown) {
      const failure = toError(thrown)
      const isPassing = isTransientFailure(failure)
      if (!isPassing && entries.length > 1) {
        for (const entry of entries) await write([entry])
        return
      }
      log[isPassing ? 'warn' : 'error']({ err: failure }, 'parts of running replies could not be written')
      for (const entry of entries) {
        entry.failure = failure
        if (!isPassing) markLost(entry)
      }
    }
  }

  return write
}

export function createReplyLog(channel: ServiceChannel, log: Log, deliverEarly?: DeliverEarly): ReplyLog {
  const open = new Map<string, OpenReply>()
  /** Replies with unwritten parts, and those of them that do not wait for the regular flush. */
  const dirty = new Set<OpenReply>()
  const urgent = new Set<OpenReply>()
  const withFirstParts = new Set<OpenReply>()
  let lastFlushAt = Number.NEGATIVE_INFINITY
  let nextUrgentAt = Number.NEGATIVE_INFINITY
  let isWriting = false
  let flushCompleted = Promise.withResolvers<undefined>()

  function remove(entry: OpenReply): void {
    if (open.get(entry.reply.id) === entry) open.delete(entry.reply.id)
    dirty.delete(entry)
    urgent.delete(entry)
  }

  function markLost(entry: OpenReply): void {
    remove(entry)
    entry.onLost()
  }

  /** Waits for the next turn of the event loop, so that parts appended together are delivered together. */
  function deliverFirstParts(entry: OpenReply): void {
    if (withFirstParts.size === 0)
      setImmediate(() => {
        const entries = [...withFirstParts]
        // First: a failure must not stop the first parts of later replies.
        withFirstParts.clear()
        for (const begun of entries) if (open.get(begun.reply.id) === begun) numberParts(begun, deliverEarly)
      })
    withFirstParts.add(entry)
  }

  const flushTimer = createFlushTimer(() => void flush())
  const write = createPartsWriter(channel, log, markLost)

  /** One write at a time, so that parts reach the log in order. */
  async function flush(): Promise<void> {
    if (isWriting) return
    isWriting = true
    flushTimer.clear()
    const isRegularFlush = performance.now() >= lastFlushAt + FLUSH_INTERVAL_MS
    if (!isRegularFlush) {
      const intervalMs = Math.min(open.size, URGENT_INTERVAL_MS)
      const earliest = performance.now() - intervalMs * (URGENT_BURST - 1)
      nextUrgentAt = Math.max(nextUrgentAt, earliest) + intervalMs
    }
    try {
      await flushEntries([...(isRegularFlush ? dirty : urgent)])
    } finally {
      // Also after a failure, which must not keep back the parts of all other replies.
      if (isRegularFlush) lastFlushAt = performance.now()
      isWriting = false
      flushCompleted.resolve(undefined)
      flushCompleted = Promise.withResolvers()
      schedule()
    }
  }

  async function flushEntries(entries: readonly OpenReply[]): Promise<void> {
    for (const entry of entries) {
      urgent.delete(entry)
      numberParts(entry, deliverEarly)
    }
    if (entries.length > 0) await write(entries)
    for (const entry of entries) {
      if (hasUnwrittenParts(entry)) continue
      dirty.delete(entry)
      // A flush may have been requested during the write: nothing is left for it to write.
      urgent.delete(entry)
    }
  }

  function schedule(): void {
    if (isWriting || dirty.size === 0) return
    const flushAt = lastFlushAt + FLUSH_INTERVAL_MS
    const at = urgent.size > 0 ? Math.min(flushAt, nextUrgentAt) : flushAt
    flushTimer.runAt(at)
  }

  return {
    open(reply, onLost) {
      const entry = createOpenReply(reply, onLost)
      open.set(reply.id, entry)
      const enqueue = () => {
        if (!entry.isDurable || !hasUnwrittenParts(entry) || open.get(reply.id) !== entry) return
        dirty.add(entry)
        if (entry.seq === 0) {
          urgent.add(entry)
          deliverFirstParts(entry)
        }
        schedule()
      }
      reply.durable.then(
        () => {
          entry.isDurable = true
          enqueue()
        },
        () => markLost(entry),
      )
      const hurry = () => {
        if (!dirty.has(entry)) return
        numberParts(entry, deliverEarly)
        urgent.add(entry)
        schedule()
      }
      return {
        append(part) {
          appendPart(entry.pending, part)
          enqueue()
        },
        requestFlush: hurry,
        async flushed() {
          await reply.durable
          while (hasUnwrittenParts(entry) && open.get(reply.id) === entry) {
            hurry()
            await flushCompleted.promise
            if (entry.failure) throw entry.failure
          }
        },
        nextSeq: () => entry.seq + 1,
        close: () => remove(entry),
      }
    },
  }
}
