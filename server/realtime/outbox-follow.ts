/**
 * Follows `realtime.changes` by notifications in commit order; each holds a change or its transaction. After a lost
 * connection, reads from the oldest possibly missed transaction and skips delivered ids. Ids are assigned before
 * commit, so no id can mark the position.
 */
import { z } from 'zod'
import type { Database } from '#server/database/scope.ts'
import {
  type Change,
  CHANNEL,
  endOfPage,
  entrySchema,
  type Outbox,
  type OutboxOptions,
  type OutboxRow,
  pageToSql,
  parseJson,
  readEntries,
  TRIM_AFTER_MS,
  trimOutbox,
} from './outbox.ts'
import { createWorkLoop } from './work-loop.ts'

const notificationSchema = z.union([
  z.object({ reload: z.literal(true) }),
  z.object({ xmin: z.string() }),
  entrySchema.and(z.object({ xid: z.string() })),
  z.object({ xid: z.string() }),
])
type OutboxNotification = z.output<typeof notificationSchema> | { readonly reconnected: true }

/** Pending changes that are delivered together. */
const MAX_PENDING = 500

interface Position {
  readonly xmin: string
  readonly startedAt: string
}

async function readPosition(database: Database): Promise<Position> {
  const { rows } = await database.asService(
    (scope) =>
      scope.query<{ xmin: string; startedAt: string }>(
        `select pg_snapshot_xmin(pg_current_snapshot())::text as xmin, pg_postmaster_start_time()::text as "startedAt"`,
      ),
    { readOnly: true },
  )
  const [position] = rows
  if (!position) throw new Error('PostgreSQL did not return its position')
  return position
}

/** The horizon is the oldest transaction that may not have been notified yet. */
function createHorizon(start: string) {
  const delivered = new Map<string, bigint>()
  let current = start
  // The settled horizon is a complete sweep older than the received one.
  let received: string | undefined
  let settled: string | undefined

  return {
    get current() {
      return current
    },
    /** False if the change was delivered before. */
    recordDelivery(id: string, xid: string): boolean {
      if (delivered.has(id)) return false
      delivered.set(id, BigInt(xid))
      return true
    },
    /** Transactions older than `xmin` ended and notified before the notification that carries it. */
    receive(xmin: string): void {
      received = xmin
    },
    /** Called after a lost connection. */
    reset(): void {
      received = settled = undefined
    },
    /** Waits two sweeps: after a lost connection, a horizon can arrive before the loss is noticed. */
    advance(): void {
      if (settled !== undefined) {
        current = settled
        const oldest = BigInt(current)
        for (const [id, xid] of delivered) if (xid < oldest) delivered.delete(id)
      }
      settled = received
      received = undefined
    },
  }
}

export async function followOutbox(options: OutboxOptions): Promise<Outbox> {
  const { database, listener, log, retry, deliver, onSchemaChange, onRestart, clock = Date.now } = options
  const notifications: OutboxNotification[] = []
  const receivedHorizons: { readonly at: number; readonly xmin: string }[] = []
  let hasNewChanges = true
  let isClosed = false
  const notificationLoop = createWorkLoop(log, () => notifications.length > 0 && !isClosed, handleNotifications)

  const stop = await listener.on(CHANNEL, (payload) => {
    const parsed = notificationSchema.safeParse(parseJson(payload))
    if (!parsed.success) return log.warn({ characters: payload.length }, 'a change notification is malformed')
    enqueue(parsed.data)
  })
  listener.onReconnect(() => enqueue({ reconnected: true }))
  // Read after LISTEN: every later commit is notified, and running transactions are not below xmin.
  const start = await readPosition(database)
  const horizon = createHorizon(start.xmin)
  let { startedAt } = start

  function enqueue(notification: OutboxNotification): void {
    if (isClosed) return
    notifications.push(notification)
    notificationLoop.wake()
  }

  async function handleNotifications(): Promise<void> {
    let pending: Change[] = []
    const flush = async () => {
      const batch = pending
      pending = []
      if (batch.length > 0) await deliver(batch)
    }
    for (let next = notifications.shift(); next && !isClosed; next = notifications.shift()) {
      if ('id' in next) {
        if (recordDelivery(next.id, next.xid)) pending.push(next)
      } else {
        await flush()
        await handleNotification(next)
      }
      if (notifications.length === 0 || pending.length >= MAX_PENDING) await flush()
    }
  }

  async function handleNotification(notification: Exclude<OutboxNotification, Change>): Promise<void> {
    if ('reload' in notification) onSchemaChange()
    else if ('xmin' in notification) receiveHorizon(notification.xmin)
    else if ('reconnected' in notification) await resynchronise()
    else await readAndDeliver('xid = $1::xid8', notification.xid)
  }

  function recordDelivery(id: string, xid: string): boolean {
    hasNewChanges = true
    return horizon.recordDelivery(id, xid)
  }

  function receiveHorizon(xmin: string): void {
    horizon.receive(xmin)
    receivedHorizons.push({ at: clock(), xmin })
  }

  async function readAndDeliver(condition: string, xid: string): Promise<void> {
    for (let after: string | undefined = '0'; after !== undefined && !isClosed;) {
      const rows: OutboxRow[] | undefined = await retry(async () => {
        const page = await database.asService(
          (scope) => scope.query<OutboxRow>(pageToSql(`${condition} and c.id > $2`), [xid, after]),
          { readOnly: true },
        )
        return page.rows
      })
      if (!rows) return
      after = endOfPage(rows)
      const undelivered = readEntries(rows, log).flatMap(([change, { xid: from }]) =>
        recordDelivery(change.id, from) ? [change] : [],
      )
      if (undelivered.length > 0) await deliver(undelivered)
    }
  }

  async function resynchronise(): Promise<void> {
    horizon.reset()
    const position = await retry(() => readPosition(database))
    if (!position) return
    if (position.startedAt !== startedAt) {
      startedAt = position.startedAt
      onRestart()
    }
    onSchemaChange()
    await readAndDeliver('xid >= $1::xid8', horizon.current)
  }

  async function sweep(): Promise<void> {
    horizon.advance()
    if (hasNewChanges) {
      hasNewChanges = false
      await database.asService((scope) =>
        scope.query(
          `select pg_notify($1, json_build_object('xmin', pg_snapshot_xmin(pg_current_snapshot())::text)::text)`,
          [CHANNEL],
        ),
      )
    }
    const past = receivedHorizons.findLastIndex(({ at }) => at < clock() - TRIM_AFTER_MS)
    const [oldest] = receivedHorizons.splice(0, past + 1).slice(-1)
    if (oldest) await trimOutbox(database, oldest.xmin)
  }

  return {
    sweep,
    async close() {
      isClosed = true
      stop()
      await notificationLoop.idle()
    },
  }
}
