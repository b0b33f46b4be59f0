import { z } from 'zod'
import type { Log } from '#server/base/log.ts'
import { deleteInBatches, inBatch } from '#server/database/batches.ts'
import type { Listener } from '#server/database/listen.ts'
import type { Database } from '#server/database/scope.ts'
import type { ChangeOperation } from './channels.ts'
import type { Retry } from './retry.ts'

export interface Change {
  readonly id: string
  readonly schema: string
  readonly table: string
  readonly operation: ChangeOperation
  /** Text by column; undefined for a table without a key. */
  readonly key: Readonly<Record<string, string>> | undefined
  /** JSON of the recorded part. */
  readonly old: string | undefined
  /** Large columns are missing from `old`. */
  readonly isOldCut: boolean
  /** Milliseconds since 1970. */
  readonly changedAt: number
}

export const CHANNEL = 'realtime_changes'
export const PAGE_ROWS = 500
/** A page whose old rows reach this ends earlier. */
const PAGE_BYTES = 8 * 1024 * 1024
export const TRIM_AFTER_MS = 15 * 60_000

const operationSchema = z.enum(['INSERT', 'UPDATE', 'DELETE'])
const keySchema = z.string().transform(parseJson).pipe(z.record(z.string(), z.string()))
export const entrySchema = z
  .object({
    id: z.string(),
    schema: z.string(),
    table: z.string(),
    op: operationSchema,
    key: keySchema.nullish(),
    old: z.string().nullish(),
    isOldCut: z.boolean().default(false),
    at: z.coerce.number(),
  })
  .transform(({ id, schema, table, op, key, old, isOldCut, at }): Change => {
    return { id, schema, table, operation: op, key: key ?? undefined, old: old ?? undefined, isOldCut, changedAt: at }
  })

export interface OutboxRow extends Record<string, unknown> {
  readonly id: string
  readonly xid: string
  /** Rows that the page would have without `PAGE_BYTES`. */
  readonly found: number
}

/** A page of changes by id. @param condition of `realtime.changes c` */
export const pageToSql = (condition: string): string => `
  select xid::text, id::text, table_schema as schema, table_name as table, op, key::text, old::text, is_old_cut as "isOldCut",
    extract(epoch from changed_at) * 1000 as at, found
  from (
    select p.*, count(*) over ()::int as found, sum(old_bytes) over (order by id) - old_bytes as bytes_before
    from (select c.* from realtime.changes c where ${condition} order by c.id limit ${PAGE_ROWS}) p
  ) p
  where bytes_before < ${PAGE_BYTES} order by p.id`

/** The id after which the next page begins; undefined after the last page. */
export function endOfPage(rows: readonly OutboxRow[]): string | undefined {
  const last = rows.at(-1)
  return last && (last.found === PAGE_ROWS || rows.length < last.found) ? last.id : undefined
}

/** Malformed rows must not block later ones. */
export function readEntries<Row extends { readonly id: string }>(rows: readonly Row[], log: Log): [Change, Row][] {
  return rows.flatMap((row): [Change, Row][] => {
    const parsed = entrySchema.safeParse(row)
    if (parsed.success) return [[parsed.data, row]]
    log.error({ err: parsed.error, id: row.id }, 'a recorded change that cannot be read was left out')
    return []
  })
}

// Future transaction ids come from a restore of another cluster.
const IS_PAST = 'xid < $1::xid8 or xid >= pg_snapshot_xmax(pg_current_snapshot())'
const TRIMS = [
  `delete from realtime.changes where ${inBatch(`realtime.changes where ${IS_PAST}`)}`,
  `delete from realtime.schema_changes where ${inBatch(`realtime.schema_changes where ${IS_PAST}`)}`,
]

export async function trimOutbox(database: Database, xmin: string): Promise<void> {
  for (const statement of TRIMS)
    await deleteInBatches(() => database.asService((scope) => scope.query(statement, [xmin])))
}

export interface OutboxOptions {
  readonly database: Database
  readonly listener: Listener
  readonly log: Log
  readonly retry: Retry
  /** The next call waits for the promise. */
  readonly deliver: (changes: readonly Change[]) => Promise<void>
  readonly onSchemaChange: () => void
  /** PostgreSQL restarted, so the unlogged outbox may have lost changes. */
  readonly onRestart: () => void
  readonly clock?: () => number
}

export interface Outbox {
  /** Removes changes that every node delivered long ago. */
  sweep(): Promise<void>
  close(): Promise<void>
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
