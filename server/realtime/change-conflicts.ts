import type { Database } from '#server/database/scope.ts'
import type { Ahead, Conflict, RecordedChange } from './change-queue.ts'

/**
 * Key columns change only together with a `reload`, behind which nothing passes: rows of a table have a key in all changes
 * that are compared, or in none. Rows without a key cannot be told apart, so all of one table count as one row.
 */
const FIND_CONFLICTS = `
  with earlier as materialized (
    select e.* from unnest($1::xid8[], $2::bigint[], $3::int[]) as e (xid, after, position)
  ),
  keyless as materialized (
    select c.table_schema, c.table_name, e.position, max(c.id) as last_id
    from earlier e join realtime.changes c on c.xid = e.xid and c.id > e.after
    where jsonb_hash_extended(c.key, 0) is null
    group by 1, 2, 3
  ),
  compared as materialized (
    select row_number() over () as number, c.table_schema, c.table_name, c.key, array_agg(c.id::text) as ids
    from unnest($5::xid8[], $6::bigint[]) w (xid, id) join realtime.changes c on c.xid = w.xid and c.id = w.id
    group by c.table_schema, c.table_name, c.key
  )
  select distinct on (number) ids, position as index, last_id::text as until
  from (
    select w.number, w.ids, e.position, max(c.id) as last_id
    from compared w
    cross join lateral (
      select c.xid, c.id from realtime.changes c
      where jsonb_hash_extended(c.key, 0) = jsonb_hash_extended(w.key, 0) and c.xid >= $4::xid8
        and c.key = w.key and c.table_name = w.table_name and c.table_schema = w.table_schema
      -- Looks up each row: without statistics the planner would rather read all that is ahead.
      offset 0
    ) c
    join earlier e on e.xid = c.xid and e.after < c.id
    group by w.number, w.ids, e.position
    union all
    select w.number, w.ids, k.position, k.last_id
    from compared w join keyless k on k.table_name = w.table_name and k.table_schema = w.table_schema
    where w.key is null
  ) found
  order by number, position`

/** Finds changes of rows of which one of the transactions has changes ahead. */
export async function findConflicts(
  database: Database,
  changes: readonly RecordedChange[],
  transactions: readonly Ahead[],
): Promise<readonly Conflict[]> {
  const earlier = transactions.flatMap(({ xids, after }, index) => xids.map((xid) => ({ xid, after, index })))
  const xids = earlier.map(({ xid }) => xid)
  const oldest = xids.reduce((least, xid) => (BigInt(xid) < BigInt(least) ? xid : least))
  const { rows } = await database.asService(
    (scope) =>
      scope.query<Conflict & Record<string, unknown>>(FIND_CONFLICTS, [
        xids,
        earlier.map(({ after }) => after),
        earlier.map(({ index }) => index),
        oldest,
        changes.map(({ xid }) => xid),
        changes.map(({ id }) => id),
      ]),
    { readOnly: true },
  )
  return rows
}
