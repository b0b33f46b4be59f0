/**
 * Follows `realtime.changes` by notifications in commit order; each holds a change or its transaction. After a lost
 * connection, reads from the oldest possibly missed transaction and skips delivered ids. Ids are assigned before
 * commit, so no id can mark the position.
 */
import { z } from 'zod'
import type { Database } from '#server/database/scope.ts'
import { createChangeQueue, type Page, type RecordedChange } from './change-queue.ts'
import { findConflicts } from './change-conflicts.ts'
import {
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
type Control = { readonly reload: true } | { readonly xmin: string } | { readonly reconnected: true }

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
  const queue = createChangeQueue<Control>({
    handle: handleControl,
    deliver: deliverOnce,
    readPage: ({ xids: [xid = ''], after }) => readPage('xid = $1::xid8', xid, after),
    findConflicts: (changes, transactions) => retry(() => findConflicts(database, changes, transactions)),
  })
  const receivedHorizons: { readonly at: number; readonly xmin: string }[] = []
  let hasNewChanges = true
  let isClosed = false
  let isPositioned = false
  const queueLoop = createWorkLoop(log, () => isPositioned && !queue.isEmpty && !isClosed, queue.step)

  const stop = await listener.on(CHANNEL, (payload) => {
    const parsed = notificationSchema.safeParse(parseJson(payload))
    if (!parsed.success) return log.warn({ characters: payload.length }, 'a change notification is malformed')
    const notification = parsed.data
    enqueue(() => {
      if ('id' in notification) queue.addChange(notification)
      else if ('xid' in notification) queue.addTransaction([notification.xid])
      else queue.addControl(notification, { isBarrier: 'reload' in notification })
    })
  })
  listener.onReconnect(() => enqueue(() => queue.addControl({ reconnected: true }, { isBarrier: true })))
  // Read after LISTEN: every later commit is notified, and running transactions are not below xmin.
  const start = await readPosition(database)
  const horizon = createHorizon(start.xmin)
  let { startedAt } = start
  isPositioned = true
  queueLoop.wake()

  function enqueue(add: () => void): void {
    if (isClosed) return
    add()
    queueLoop.wake()
  }

  async function handleControl(control: Control): Promise<void> {
    if ('reload' in control) onSchemaChange()
    else if ('xmin' in control) receiveHorizon(control.xmin)
    else await resynchronise()
  }

  function receiveHorizon(xmin: string): void {
    horizon.receive(xmin)
    receivedHorizons.push({ at: clock(), xmin })
  }

  async function deliverOnce(changes: readonly RecordedChange[]): Promise<void> {
    hasNewChanges = true
    const undelivered = changes.filter(({ id, xid }) => horizon.recordDelivery(id, xid))
    if (undelivered.length > 0) await deliver(undelivered)
  }

  async function readPage(condition: string, xid: string, after: string): Promise<Page | undefined> {
    const page = await retry(() =>
      database.asService((scope) => scope.query<OutboxRow>(pageToSql(`${condition} and c.id > $2`), [xid, after]), {
        readOnly: true,
      }),
    )
    if (!page) return undefined
    const changes = readEntries(page.rows, log).map(([change, { xid: from }]) => ({ ...change, xid: from }))
    return { changes, next: endOfPage(page.rows) }
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
    for (let after: string | undefined = '0'; after !== undefined && !isClosed;) {
      const page: Page | undefined = await readPage('xid >= $1::xid8', horizon.current, after)
      if (!page) return
      after = page.next
      await deliverOnce(page.changes)
    }
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
      await queueLoop.idle()
    },
  }
}
