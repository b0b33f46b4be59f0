/** Which rows changed between two moments, from the outbox, which keeps changes for a while. */
import { z } from 'zod'
import type { Scope } from './scope.ts'

/** Changes of all people between two moments of one page's start: more are not worth filtering. */
const MAX_CHANGES = 1000
/** Well within the time for which the outbox keeps what was delivered. */
const MAX_AGE_MS = 10 * 60_000

/** `snapshot` is the text of `pg_current_snapshot()`; a restarted server may have lost the outbox. */
const momentSchema = z.object({
  snapshot: z
    .string()
    .max(2000)
    .regex(/^[\d:,]+$/),
  startedAt: z.string(),
  at: z.number(),
})
type Moment = z.output<typeof momentSchema>

export interface RecordedChange {
  readonly table: string
  readonly id: string
  readonly isDeleted: boolean
  /** Owner of a deleted row, as the table's trigger recorded it. */
  readonly owner: string | null
  /** Space whose members could read a deleted row. */
  readonly space: string | null
}

export interface RecordedChanges {
  /** Opaque; for a later call. */
  readonly moment: string
  /** Null where they cannot be told. */
  readonly changes: readonly RecordedChange[] | null
}

const READ_MOMENT = `
  select pg_current_snapshot()::text as snapshot, pg_postmaster_start_time()::text as "startedAt",
    (extract(epoch from clock_timestamp()) * 1000)::float8 as at, pg_input_is_valid($1::text, 'pg_snapshot') as "isValid"`

const READ_CHANGES = `
  select c.table_name as table, c.key ->> 'id' as id, c.op = 'DELETE' as "isDeleted",
    coalesce(c.old ->> 'uid', c.old ->> 'owner', c.old ->> 'library') as owner,
    coalesce(c.old ->> 'library', case c.old ->> 'is_shared' when 'true' then c.old ->> 'space_id' end) as space
  from realtime.changes c
  where c.xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(c.xid, $1::pg_snapshot)
    and c.table_schema = 'public' and c.table_name = any ($2)
  order by c.id limit ${MAX_CHANGES + 1}`

/** @param since `moment` of an earlier call; undefined: only the moment is wanted */
export async function readChangesSince(
  scope: Scope,
  tables: readonly string[],
  since: string | undefined,
): Promise<RecordedChanges> {
  const then = since === undefined ? undefined : readMoment(since)
  const { rows } = await scope.query<Moment & { isValid: boolean | null }>(READ_MOMENT, [then?.snapshot])
  const now = momentSchema.parse(rows[0])
  const moment = Buffer.from(JSON.stringify(now)).toString('base64url')
  if (since === undefined) return { moment, changes: [] }
  const isKnown = rows[0]?.isValid === true && then?.startedAt === now.startedAt && now.at - then.at <= MAX_AGE_MS
  if (!isKnown) return { moment, changes: null }
  const { rows: changes } = await scope.query<RecordedChange & Record<string, unknown>>(READ_CHANGES, [
    then.snapshot,
    tables,
  ])
  return { moment, changes: changes.length > MAX_CHANGES ? null : changes }
}

/** Undefined for one that this server did not write. */
function readMoment(text: string): Moment | undefined {
  try {
    return momentSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    return undefined
  }
}
