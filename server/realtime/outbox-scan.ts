/**
 * Follows `realtime.changes` where what rings may be lost and comes in any order: a bell only says that there may be
 * something. What is delivered is what one snapshot shows and the one before did not, in the order of ids: a row that two
 * transactions changed was locked by the first until it had committed, so its changes have their ids in that order, and no
 * snapshot shows the second without the first.
 */
import { z } from 'zod'
import { createLoop } from './loop.ts'
import {
  CHANNEL,
  ENTRY,
  type Outbox,
  type OutboxOptions,
  PAGE_ROWS,
  readEntries,
  TRIM_AFTER_MS,
  trimOutbox,
} from './outbox.ts'

/** Bells that were lost, and those of servers that died before they rang, are made up for within this time. */
const LOOK_EVERY_MS = 1_000

const position = z.object({
  /** Of `pg_current_snapshot()`. */
  snapshot: z.string(),
  xmin: z.string(),
  startedAt: z.string(),
  hasNewSchema: z.boolean(),
})
type Position = z.output<typeof position>

const READ_POSITION = `
  select pg_current_snapshot()::text as snapshot, pg_snapshot_xmin(pg_current_snapshot())::text as xmin,
    pg_postmaster_start_time()::text as "startedAt",
    exists (
      select from realtime.schema_changes where xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(xid, $1::pg_snapshot)
    ) as "hasNewSchema"`

const READ_CHANGES = `
  select ${ENTRY} from realtime.changes c
  where c.xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(c.xid, $1::pg_snapshot)
    and pg_visible_in_snapshot(c.xid, $2::pg_snapshot) and c.id > $3
  order by c.id limit ${PAGE_ROWS}`

/** The same promise as `followOutbox`, less the order of commits among different rows. */
export async function lookIntoOutbox(options: OutboxOptions & { readonly lookEveryMs?: number }): Promise<Outbox> {
  const { database, listener, log, persevere, deliver, onSchemaChange, onRestart } = options
  const { clock = Date.now, lookEveryMs = LOOK_EVERY_MS } = options
  const marks: { readonly at: number; readonly xmin: string }[] = []
  let isRung = false
  let wasCutOff = false
  let isClosed = false
  const looking = createLoop(log, () => isRung && !isClosed, look)
  const stop = await listener.on(CHANNEL, ring)
  listener.onReconnect(() => {
    wasCutOff = true
    ring()
  })
  let last = await readPosition()
  const timer = setInterval(ring, lookEveryMs)
  timer.unref()

  function ring(): void {
    isRung = true
    looking.wake()
  }

  async function readPosition(since?: Position): Promise<Position> {
    const { rows } = await database.asService((scope) => scope.prepared(READ_POSITION, [since?.snapshot ?? '1:1:']), {
      readOnly: true,
    })
    return position.parse(rows[0])
  }

  async function look(): Promise<void> {
    isRung = false
    const next = await persevere(() => readPosition(last))
    if (!next) return
    if (next.startedAt !== last.startedAt) onRestart()
    if (next.hasNewSchema || wasCutOff) onSchemaChange()
    wasCutOff = false
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
      marks.push({ at: clock(), xmin: last.xmin })
      const past = marks.findLastIndex(({ at }) => at < clock() - TRIM_AFTER_MS)
      const [mark] = marks.splice(0, past + 1).slice(-1)
      if (mark) await trimOutbox(database, mark.xmin)
    },
    async close() {
      clearInterval(timer)
      isClosed = true
      stop()
      await looking.idle()
    },
  }
}
