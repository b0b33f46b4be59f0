/**
 * For transports that lose or reorder notifications: a scan delivers, by id, the changes that its snapshot shows and
 * the previous one did not. Changes of one row keep their order: the first transaction locks the row until commit, so
 * all its ids are smaller than that of the second change, and no snapshot shows only the second.
 */
import { z } from 'zod'
import { repeat } from '#server/base/repeat.ts'
import { findConflicts } from './change-conflicts.ts'
import { createChangeQueue, type Page } from './change-queue.ts'
import {
  CHANNEL,
  endOfPage,
  type Outbox,
  type OutboxOptions,
  type OutboxRow,
  PAGE_ROWS,
  pageToSql,
  readEntries,
  TRIM_AFTER_MS,
  trimOutbox,
} from './outbox.ts'
import { createWorkLoop } from './work-loop.ts'

/** Bounds the delay after a lost notification. */
const SCAN_INTERVAL_MS = 1_000

const positionSchema = z.object({
  /** Text of `pg_current_snapshot()`. */
  snapshot: z.string(),
  xmin: z.string(),
  startedAt: z.string(),
  hasNewSchema: z.boolean(),
})
type Position = z.output<typeof positionSchema>

const READ_POSITION = `
  select pg_current_snapshot()::text as snapshot, pg_snapshot_xmin(pg_current_snapshot())::text as xmin,
    pg_postmaster_start_time()::text as "startedAt",
    exists (
      select from realtime.schema_changes where xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(xid, $1::pg_snapshot)
    ) as "hasNewSchema"`

const BETWEEN_SNAPSHOTS = `
  c.xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(c.xid, $1::pg_snapshot)
  and pg_visible_in_snapshot(c.xid, $2::pg_snapshot)`
const READ_CHANGES = pageToSql(BETWEEN_SNAPSHOTS)
const READ_CHANGES_OF = pageToSql('c.xid = any ($1::xid8[]) and c.id > $2')
/** The last ids are in commit order where transactions changed the same row. */
const READ_TRANSACTIONS = `
  select c.xid::text, count(*)::int as changes from realtime.changes c where ${BETWEEN_SNAPSHOTS}
  group by c.xid order by max(c.id)`

interface TransactionRow extends Record<string, unknown> {
  readonly xid: string
  readonly changes: number
}

/** Small transactions that follow each other are read together, as far as one page holds them. */
function groupTransactions(rows: readonly TransactionRow[]): string[][] {
  const groups: string[][] = []
  let room = 0
  for (const { xid, changes } of rows) {
    const last = groups.at(-1)
    if (last && changes <= room) last.push(xid)
    else {
      groups.push([xid])
      room = PAGE_ROWS
    }
    room -= changes
  }
  return groups
}

/** Unlike `followOutbox`, keeps no commit order between different rows. */
export async function scanOutbox(options: OutboxOptions & { readonly scanIntervalMs?: number }): Promise<Outbox> {
  const { database, listener, log, retry, deliver, onSchemaChange, onRestart } = options
  const { clock = Date.now, scanIntervalMs = SCAN_INTERVAL_MS } = options
  const horizons: { readonly at: number; readonly xmin: string }[] = []
  let isNotified = false
  let hasReconnected = false
  let isClosed = false
  const queue = createChangeQueue<'reload'>({
    handle: () => Promise.resolve(onSchemaChange()),
    deliver,
    readPage: ({ xids, after }) => readPage(READ_CHANGES_OF, [xids, after]),
    findConflicts: (changes, transactions) => retry(() => findConflicts(database, changes, transactions)),
  })
  const scanLoop = createWorkLoop(log, () => (isNotified || !queue.isEmpty) && !isClosed, work)
  const stop = await listener.on(CHANNEL, wake)
  listener.onReconnect(() => {
    hasReconnected = true
    wake()
  })
  let last = await readPosition()
  const timer = repeat(wake, scanIntervalMs)
  timer.unref()

  function wake(): void {
    isNotified = true
    scanLoop.wake()
  }

  async function readPosition(since?: Position): Promise<Position> {
    const { rows } = await database.asService((scope) => scope.prepared(READ_POSITION, [since?.snapshot ?? '1:1:']), {
      readOnly: true,
    })
    return positionSchema.parse(rows[0])
  }

  async function work(): Promise<void> {
    if (isNotified) await scan()
    await queue.step()
  }

  async function scan(): Promise<void> {
    isNotified = false
    const next = await retry(() => readPosition(last))
    if (!next) return
    if (next.startedAt !== last.startedAt) onRestart()
    if (next.hasNewSchema || hasReconnected) queue.addControl('reload', { isBarrier: true })
    hasReconnected = false
    const from = last
    last = next
    if (next.snapshot !== from.snapshot) await enqueueBetween(from, next)
  }

  async function enqueueBetween(from: Position, to: Position): Promise<void> {
    const snapshots = [from.snapshot, to.snapshot]
    if (queue.isEmpty) {
      const page = await readPage(READ_CHANGES, snapshots)
      if (page?.next === undefined) return page && page.changes.length > 0 ? deliver(page.changes) : undefined
    }
    const transactions = await retry(() =>
      database.asService((scope) => scope.prepared<TransactionRow>(READ_TRANSACTIONS, snapshots), { readOnly: true }),
    )
    for (const xids of groupTransactions(transactions?.rows ?? [])) queue.addTransaction(xids)
  }

  async function readPage(text: string, values: readonly unknown[]): Promise<Page | undefined> {
    const page = await retry(() =>
      database.asService((scope) => scope.prepared<OutboxRow>(text, values), { readOnly: true }),
    )
    if (!page) return undefined
    const changes = readEntries(page.rows, log).map(([change, { xid }]) => ({ ...change, xid }))
    return { changes, next: endOfPage(page.rows) }
  }

  return {
    async sweep() {
      horizons.push({ at: clock(), xmin: last.xmin })
      const past = horizons.findLastIndex(({ at }) => at < clock() - TRIM_AFTER_MS)
      const [oldest] = horizons.splice(0, past + 1).slice(-1)
      if (oldest) await trimOutbox(database, oldest.xmin)
    },
    async close() {
      clearInterval(timer)
      isClosed = true
      stop()
      await scanLoop.idle()
    },
  }
}
