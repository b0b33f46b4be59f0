/**
 * Follows `realtime.changes` where what rings may be lost and comes in any order: a bell only says that there may be
 * something. What is delivered is what one snapshot shows and the one before did not, in the order of ids: a row that two
 * transactions changed was locked by the first until it had committed, so its changes have their ids in that order, and no
 * snapshot shows the second without the first.
 */
import { z } from 'zod'
import { createWorkLoop } from './work-loop.ts'
import {
  CHANNEL,
  ENTRY_COLUMNS,
  type Outbox,
  type OutboxOptions,
  PAGE_ROWS,
  readEntries,
  TRIM_AFTER_MS,
  trimOutbox,
} from './outbox.ts'

/** Bells that were lost, and those of servers that died before they rang, are made up for within this time. */
const SCAN_INTERVAL_MS = 1_000

const positionSchema = z.object({
  /** Of `pg_current_snapshot()`. */
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

const READ_CHANGES = `
  select ${ENTRY_COLUMNS} from realtime.changes c
  where c.xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(c.xid, $1::pg_snapshot)
    and pg_visible_in_snapshot(c.xid, $2::pg_snapshot) and c.id > $3
  order by c.id limit ${PAGE_ROWS}`

/** The same promise as `followOutbox`, less the order of commits among different rows. */
export async function scanOutbox(options: OutboxOptions & { readonly scanIntervalMs?: number }): Promise<Outbox> {
  const { database, listener, log, persevere, deliver, onSchemaChange, onRestart } = options
  const { clock = Date.now, scanIntervalMs: lookEveryMs = SCAN_INTERVAL_MS } = options
  const horizons: { readonly at: number; readonly xmin: string }[] = []
  let isNotified = false
  let hasReconnected = false
  let isClosed = false
  const scanLoop = createWorkLoop(log, () => isNotified && !isClosed, scan)
  const stop = await listener.on(CHANNEL, wake)
  listener.onReconnect(() => {
    hasReconnected = true
    wake()
  })
  let last = await readPosition()
  const timer = setInterval(wake, lookEveryMs)
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

  async function scan(): Promise<void> {
    isNotified = false
    const next = await persevere(() => readPosition(last))
    if (!next) return
    if (next.startedAt !== last.startedAt) onRestart()
    if (next.hasNewSchema || hasReconnected) onSchemaChange()
    hasReconnected = false
    const from = last
    last = next
    if (next.snapshot !== from.snapshot) await deliverBetween(from, next)
  }

  async function deliverBetween(from: Position, to: Position): Promise<void> {
    for (let after: string | undefined = '0'; after !== undefined && !isClosed;) {
      const afterId: string = after
      const rows = await persevere(async () => {
        const page = await database.asService(
          (scope) => scope.prepared<{ id: string }>(READ_CHANGES, [from.snapshot, to.snapshot, afterId]),
          { readOnly: true },
        )
        return page.rows
      })
      if (!rows) return
      after = rows.length < PAGE_ROWS ? undefined : rows.at(-1)?.id
      const changes = readEntries(rows, log).map(([change]) => change)
      if (changes.length > 0) await deliver(changes)
    }
  }

  return {
    async sweep() {
      horizons.push({ at: clock(), xmin: last.xmin })
      const past = horizons.findLastIndex(({ at }) => at < clock() - TRIM_AFTER_MS)
      const [mark] = horizons.splice(0, past + 1).slice(-1)
      if (mark) await trimOutbox(database, mark.xmin)
    },
    async close() {
      clearInterval(timer)
      isClosed = true
      stop()
      await scanLoop.idle()
    },
  }
}
