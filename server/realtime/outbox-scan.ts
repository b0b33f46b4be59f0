/**
 * For transports that lose or reorder notifications: a scan delivers, by id, the changes that its snapshot shows and
 * the previous one did not. Changes of one row keep their order: the first transaction locks the row until commit, so
 * its id is smaller and no snapshot shows only the second.
 */
import { z } from 'zod'
import { repeat } from '#server/base/repeat.ts'
import {
  CHANNEL,
  endOfPage,
  type Outbox,
  type OutboxOptions,
  type OutboxRow,
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

const READ_CHANGES = pageToSql(`
  c.xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(c.xid, $1::pg_snapshot)
  and pg_visible_in_snapshot(c.xid, $2::pg_snapshot) and c.id > $3`)

/** Unlike `followOutbox`, keeps no commit order between different rows. */
export async function scanOutbox(options: OutboxOptions & { readonly scanIntervalMs?: number }): Promise<Outbox> {
  const { database, listener, log, retry, deliver, onSchemaChange, onRestart } = options
  const { clock = Date.now, scanIntervalMs = SCAN_INTERVAL_MS } = options
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

  async function scan(): Promise<void> {
    isNotified = false
    const next = await retry(() => readPosition(last))
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
      const rows = await retry(async () => {
        const page = await database.asService(
          (scope) => scope.prepared<OutboxRow>(READ_CHANGES, [from.snapshot, to.snapshot, afterId]),
          { readOnly: true },
        )
        return page.rows
      })
      if (!rows) return
      after = endOfPage(rows)
      const changes = readEntries(rows, log).map(([change]) => change)
      if (changes.length > 0) await deliver(changes)
    }
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
