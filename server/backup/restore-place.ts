/** The place that a restore fills: empty at first, and marked until it is complete. */
import pg from 'pg'
import { AppError } from '#server/base/errors.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { RESTORE_SCHEMA } from './snapshot.ts'

async function onClient<T>(connection: pg.ClientConfig, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}

/** @returns the name of the backup whose restore has begun here and not ended */
async function readMarker(client: pg.ClientBase): Promise<string | undefined> {
  const table = `${RESTORE_SCHEMA}.unfinished`
  const { rows } = await client.query<{ present: boolean }>('select to_regclass($1) is not null as present', [table])
  if (rows[0]?.present !== true) return undefined
  const marks = await client.query<{ backup: string }>(`select backup from ${table}`)
  return marks.rows[0]?.backup
}

const RELATION = `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname !~ '^pg_' and n.nspname not in ('information_schema', '${RESTORE_SCHEMA}')
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by 1 limit 1`

/** Whether the database is not empty, and no restore of it is unfinished. */
export const isFilled = (connection: pg.ClientConfig): Promise<boolean> =>
  onClient(
    connection,
    async (client) => (await readMarker(client)) === undefined && (await client.query(RELATION)).rowCount === 1,
  )

/**
 * Marks an empty database for the restore of a backup; one that is marked for it already is accepted as it is.
 *
 * @throws AppError `conflict` where it is not empty, or marked for another backup
 */
export async function markDatabase(
  connection: pg.ClientConfig,
  backup: string,
  requireEmptyBlobs: () => Promise<void>,
): Promise<void> {
  await onClient(connection, async (client) => {
    const marked = await readMarker(client)
    if (marked === backup) return
    if (marked !== undefined)
      throw new AppError(
        'conflict',
        `The database holds an unfinished restore of the backup ${marked}: restore that one, or name another, empty database.`,
      )
    const { rows } = await client.query<{ name: string }>(RELATION)
    if (rows[0])
      throw new AppError(
        'conflict',
        `The database is not empty (it has ${rows[0].name}), but a restore wants an empty one; nothing was changed.`,
      )
    await requireEmptyBlobs()
    await client.query('begin')
    await client.query(`create schema if not exists ${RESTORE_SCHEMA}`)
    // Without a key a restored publication for all tables would let nothing update it.
    await client.query(
      `create table ${RESTORE_SCHEMA}.unfinished (backup text primary key, is_loaded boolean not null default false)`,
    )
    await client.query(`insert into ${RESTORE_SCHEMA}.unfinished (backup) values ($1)`, [backup])
    await client.query('commit')
  })
}

export async function unmarkDatabase(connection: pg.ClientConfig): Promise<void> {
  await onClient(connection, (client) => client.query(`drop schema if exists ${RESTORE_SCHEMA} cascade`))
}

/** @throws AppError `startup`: what is in the database is not complete */
export async function rejectUnfinishedRestore(connection: pg.ClientConfig): Promise<void> {
  const marked = await onClient(connection, readMarker)
  if (marked !== undefined)
    throw new AppError(
      'startup',
      `The restore of the backup ${marked} into this database was cut off: run it again, and it goes on there.`,
    )
}

/** @throws AppError `conflict` */
export async function requireEmptyStore(blobs: BlobStore, place: string): Promise<void> {
  for await (const { id } of blobs.list())
    throw new AppError(
      'conflict',
      `${place} is not empty (it has ${id}), but a restore wants an empty one; nothing was changed.`,
    )
}
