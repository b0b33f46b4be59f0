/**
 * What is being written, for everyone who watches. Parts of all running replies of this process go out together: the
 * first at once, then at most every 100 ms, in one statement that both logs and broadcasts them.
 */
import { conversationTopic, REPLY_EVENT, type ReplyPart } from '#contract/reply-events.ts'
import { type Log } from '#server/base/log.ts'
import { type Database } from '#server/database/scope.ts'
import { type ClaimedReply } from './replies.ts'

type PartBody = Pick<ReplyPart, 'type' | 'text' | 'tool' | 'source' | 'error'>

const FLUSH_INTERVAL_MS = 100

export interface ReplyWriter {
  /** Adds a part; consecutive text of one flush becomes one part. */
  append(part: PartBody): void
  /** Resolves when everything appended so far is logged and sent. */
  flushed(): Promise<void>
  /** Sequence number that the next part would get. Only after `flushed`. */
  nextSeq(): number
  close(): void
}

export interface ReplyLog {
  open(reply: ClaimedReply, onLost: () => void): ReplyWriter
}

const WRITE = `
  with incoming as (
    select * from jsonb_to_recordset($1) as p(reply_id uuid, attempt integer, seq integer, topic text, payload jsonb)
  ), live as (
    select i.*, r.owner from incoming i join replies r on r.id = i.reply_id and r.attempt = i.attempt and r.state = 'running'
  ), logged as (
    insert into reply_parts (reply_id, attempt, seq, owner, payload)
    select reply_id, attempt, seq, owner, payload from live
  ), sent as (
    select reply_id, realtime.send(payload, $2, topic, true) from (select * from live order by reply_id, seq) ordered
  )
  select distinct reply_id as id from sent`

interface OpenReply {
  readonly reply: ClaimedReply
  readonly onLost: () => void
  seq: number
  pending: PartBody[]
}

export function createReplyLog(database: Database, log: Log): ReplyLog {
  const open = new Map<string, OpenReply>()
  let lastFlushAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  async function write(): Promise<void> {
    const rows: { reply_id: string; attempt: number; seq: number; topic: string; payload: ReplyPart }[] = []
    const written: OpenReply[] = []
    for (const entry of open.values()) {
      if (entry.pending.length === 0) continue
      written.push(entry)
      const { id, answerId, attempt, conversationId } = entry.reply
      for (const part of entry.pending) {
        entry.seq += 1
        const payload = { replyId: id, messageId: answerId, attempt, seq: entry.seq, ...part }
        rows.push({ reply_id: id, attempt, seq: entry.seq, topic: conversationTopic(conversationId), payload })
      }
      entry.pending = []
    }
    if (rows.length === 0) return
    const alive = await database.asService(
      async (scope) =>
        new Set(
          (await scope.query<{ id: string }>(WRITE, [JSON.stringify(rows), REPLY_EVENT])).rows.map(({ id }) => id),
        ),
      { settings: { synchronous_commit: 'off' } },
    )
    for (const entry of written) if (!alive.has(entry.reply.id)) entry.onLost()
  }

  const hasPending = () => [...open.values()].some(({ pending }) => pending.length > 0)

  /** One write at a time, so that parts of a reply reach the log in order. */
  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    running ??= write()
      .catch((error: unknown) => {
        log.error({ err: error }, 'parts of running replies could not be written')
        for (const { onLost } of open.values()) onLost()
      })
      .finally(() => {
        running = undefined
        lastFlushAt = performance.now()
        if (hasPending()) schedule()
      })
    return running
  }

  function schedule(): void {
    if (running !== undefined || timer !== undefined) return
    const waitMs = Math.max(0, lastFlushAt + FLUSH_INTERVAL_MS - performance.now())
    timer = setTimeout(() => void flush(), waitMs)
  }

  return {
    open(reply, onLost) {
      const entry: OpenReply = { reply, onLost, seq: 0, pending: [] }
      open.set(reply.id, entry)
      return {
        append(part) {
          const last = entry.pending.at(-1)
          if (last && last.type === part.type && (part.type === 'text' || part.type === 'reasoning')) {
            entry.pending[entry.pending.length - 1] = { ...last, text: (last.text ?? '') + (part.text ?? '') }
          } else entry.pending.push(part)
          schedule()
        },
        async flushed() {
          while (running !== undefined || entry.pending.length > 0) await flush()
        },
        nextSeq: () => entry.seq + 1,
        close: () => {
          if (open.get(reply.id) === entry) open.delete(reply.id)
        },
      }
    },
  }
}
