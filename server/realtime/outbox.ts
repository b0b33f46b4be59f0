/**
 * Follows `realtime.changes` by notifications, which arrive in the order of commits and say which transaction to look at; a
 * change told whole needs no look. After a lost connection everything from the oldest transaction that may not have been
 * heard of is looked at again, less what was delivered: ids are given before commit, so no id could serve as position.
 */
import type pg from 'pg'
import { z } from 'zod'
import { type Log } from '#server/base/log.ts'
import { type Listener } from '#server/database/listen.ts'
import { type Database } from '#server/database/scope.ts'
import { type ChangeOperation } from './channels.ts'
import { createWorkLoop } from './work-loop.ts'
import { type Retry } from './retry.ts'

export interface Change {
  readonly id: string
  readonly schema: string
  readonly table: string
  readonly operationSchema: ChangeOperation
  /** Column to text; undefined where the table has no key. */
  readonly key: Readonly<Record<string, string>> | undefined
  /** JSON of the old row as far as it was kept. */
  readonly old: string | undefined
  /** Milliseconds since 1970. */
  readonly changedAt: number
}

export const CHANNEL = 'realtime_changes'
export const PAGE_ROWS = 500
export const TRIM_AFTER_MS = 15 * 60_000

const operation = z.enum(['INSERT', 'UPDATE', 'DELETE'])
const keySchema = z.string().transform(parseJson).pipe(z.record(z.string(), z.string()))
const entrySchema = z
  .object({
    id: z.string(),
    schema: z.string(),
    table: z.string(),
    op: operation,
    key: keySchema.nullish(),
    old: z.string().nullish(),
    at: z.coerce.number(),
  })
  .transform(({ id, schema, table, op, key, old, at }): Change => {
    return { id, schema, table, operationSchema: op, key: key ?? undefined, old: old ?? undefined, changedAt: at }
  })

const notificationSchema = z.union([
  z.object({ reload: z.literal(true) }),
  z.object({ xmin: z.string() }),
  entrySchema.and(z.object({ xid: z.string() })),
  z.object({ xid: z.string() }),
])
type OutboxNotification = z.output<typeof notificationSchema> | { readonly resynchronise: true }

export const ENTRY_COLUMNS = `xid::text, id::text, table_schema as schema, table_name as table, op, key::text, old::text,
  extract(epoch from changed_at) * 1000 as at`

/** What was recorded, less what cannot be read: that must not keep back what comes after it. */
export function readEntries<OutboxRow extends { readonly id: string }>(rows: readonly OutboxRow[], log: Log): [Change, OutboxRow][] {
  return rows.flatMap((row): [Change, OutboxRow][] => {
    const parsed = entrySchema.safeParse(row)
    if (parsed.success) return [[parsed.data, row]]
    log.error({ err: parsed.error, id: row.id }, 'a recorded change that cannot be read was left out')
    return []
  })
}

/** Removes what was recorded by transactions before `xmin`. */
export async function trimOutbox(database: Database, xmin: string): Promise<void> {
  // Ids of a transaction yet to come stem from another cluster that this database was restored from.
  await database.asService(async (scope) => {
    for (const table of ['changes', 'schema_changes'])
      await scope.query(
        `delete from realtime.${table} where xid < $1::xid8 or xid >= pg_snapshot_xmax(pg_current_snapshot())`,
        [xmin],
      )
  })
}

export interface OutboxOptions {
  readonly database: Database
  readonly listener: Listener
  readonly log: Log
  readonly persevere: Retry
  /** Delivers changes in the order given; the next ones wait until it is done. */
  readonly deliver: (changes: readonly Change[]) => Promise<void>
  readonly onSchemaChange: () => void
  /** PostgreSQL was started anew, and the outbox, which is not logged, may have lost changes. */
  readonly onRestart: () => void
  readonly clock?: () => number
}

export interface Outbox {
  /** Notes how far every transaction has been heard of, and removes what every node has long delivered. */
  sweep(): Promise<void>
  close(): Promise<void>
}

interface Row extends pg.QueryResultRow {
  readonly id: string
  readonly xid: string
}

interface Position {
  readonly xmin: string
  readonly startedAt: string
}

export async function followOutbox(options: OutboxOptions): Promise<Outbox> {
  const { database, listener, log, persevere, deliver, onSchemaChange, onRestart, clock = Date.now } = options
  const notifications: OutboxNotification[] = []
  const delivered = new Map<string, bigint>()
  const marks: { readonly at: number; readonly xmin: string }[] = []
  // Horizons that were heard of, the older one a whole sweep ago.
  let heardHorizon: string | undefined
  let settledHorizon: string | undefined
  let hasNewChanges = true
  let isClosed = false
  const notificationLoop = createWorkLoop(log, () => notifications.length > 0 && !isClosed, handleNotifications)

  const stop = await listener.on(CHANNEL, (payload) => {
    const parsed = notificationSchema.safeParse(parseJson(payload))
    if (!parsed.success) return log.warn({ payload }, 'a notification of a change that cannot be read')
    enqueue(parsed.data)
  })
  listener.onReconnect(() => enqueue({ resynchronise: true }))
  // After LISTEN has begun: what commits from here on is notified, and what began before it is not yet past.
  let { xmin: horizon, startedAt } = await readPosition()

  async function readPosition(): Promise<Position> {
    const { rows } = await database.asService(
      (scope) =>
        scope.query<{ xmin: string; startedAt: string }>(
          `select pg_snapshot_xmin(pg_current_snapshot())::text as xmin, pg_postmaster_start_time()::text as "startedAt"`,
        ),
      { readOnly: true },
    )
    const [position] = rows
    if (!position) throw new Error('PostgreSQL did not say where it is')
    return position
  }

  function enqueue(bell: OutboxNotification): void {
    if (isClosed) return
    notifications.push(bell)
    notificationLoop.wake()
  }

  async function handleNotifications(): Promise<void> {
    let told: Change[] = []
    const flush = async () => {
      const batch = told
      told = []
      if (batch.length > 0) await deliver(batch)
    }
    for (let bell = notifications.shift(); bell && !isClosed; bell = notifications.shift()) {
      if ('id' in bell) {
        if (recordDelivery(bell.id, bell.xid)) told.push(bell)
      } else {
        await flush()
        await handleNotification(bell)
      }
      if (notifications.length === 0 || told.length >= PAGE_ROWS) await flush()
    }
  }

  async function handleNotification(bell: Exclude<OutboxNotification, Change>): Promise<void> {
    if ('reload' in bell) onSchemaChange()
    else if ('xmin' in bell) recordHorizon(bell.xmin)
    else if ('catchUp' in bell) await catchUp()
    else await readAndDeliver('xid = $1::xid8', bell.xid)
  }

  /** Whether the change is new. */
  function recordDelivery(id: string, xid: string): boolean {
    hasNewChanges = true
    if (delivered.has(id)) return false
    delivered.set(id, BigInt(xid))
    return true
  }

  async function readAndDeliver(condition: string, xid: string): Promise<void> {
    for (let after: string | undefined = '0'; after !== undefined && !isClosed;) {
      const rows: Row[] | undefined = await persevere(async () => {
        const page = await database.asService(
          (scope) =>
            scope.query<Row>(
              `select ${ENTRY_COLUMNS} from realtime.changes c where ${condition} and c.id > $2 order by c.id limit ${PAGE_ROWS}`,
              [xid, after],
            ),
          { readOnly: true },
        )
        return page.rows
      })
      if (!rows) return
      after = rows.length < PAGE_ROWS ? undefined : rows.at(-1)?.id
      const fresh = readEntries(rows, log).flatMap(([change, { xid: from }]) =>
        recordDelivery(change.id, from) ? [change] : [],
      )
      if (fresh.length > 0) await deliver(fresh)
    }
  }

  async function catchUp(): Promise<void> {
    heardHorizon = settledHorizon = undefined
    const position = await persevere(readPosition)
    if (!position) return
    if (position.startedAt !== startedAt) {
      startedAt = position.startedAt
      onRestart()
    }
    onSchemaChange()
    await readAndDeliver('xid >= $1::xid8', horizon)
  }

  /** Every transaction older than `xmin` had ended, and rung, before the mark that brought it rang itself. */
  function recordHorizon(xmin: string): void {
    heardHorizon = xmin
    marks.push({ at: clock(), xmin })
  }

  /**
   * A mark counts only when no connection was lost until the sweep after the next: after a loss marks may be heard before
   * it is known that others were not.
   */
  function advanceHorizon(): void {
    if (settledHorizon !== undefined) {
      horizon = settledHorizon
      const oldest = BigInt(horizon)
      for (const [id, xid] of delivered) if (xid < oldest) delivered.delete(id)
    }
    settledHorizon = heardHorizon
    heardHorizon = undefined
  }

  async function sweep(): Promise<void> {
    advanceHorizon()
    if (hasNewChanges) {
      hasNewChanges = false
      await database.asService((scope) =>
        scope.query(
          `select pg_notify($1, json_build_object('xmin', pg_snapshot_xmin(pg_current_snapshot())::text)::text)`,
          [CHANNEL],
        ),
      )
    }
    const past = marks.findLastIndex(({ at }) => at < clock() - TRIM_AFTER_MS)
    const [mark] = marks.splice(0, past + 1).slice(-1)
    if (mark) await trimOutbox(database, mark.xmin)
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
