/** A trigger notes the blob of each deleted document in `discarded_blobs`. Bytes stay while a backup runs. */
import { NO_BACKUP_RUNS } from '#server/database/backup-lock.ts'
import type { Scope } from '#server/database/scope.ts'

const BATCH = 1_000

export async function hasDiscardedBlobs(scope: Scope): Promise<boolean> {
  const { rowCount } = await scope.query(`select from discarded_blobs where ${NO_BACKUP_RUNS} limit 1`)
  return rowCount !== 0
}

export async function listDiscardedBlobs(scope: Scope): Promise<string[]> {
  const { rows } = await scope.query<{ path: string }>(
    `select path from discarded_blobs where ${NO_BACKUP_RUNS} order by discarded_at limit $1`,
    [BATCH],
  )
  return rows.map(({ path }) => path)
}

export async function forgetDiscardedBlob(scope: Scope, path: string): Promise<void> {
  await scope.query('delete from discarded_blobs where path = $1', [path])
}

/** Columns of the storage service are missing if another process serves it. */
const NAMING_COLUMNS = [
  { table: 'public.documents', column: 'path' },
  { table: 'public.discarded_blobs', column: 'path' },
  { table: 'storage.objects', column: 'blob_id' },
  { table: 'storage.discarded_blobs', column: 'blob_id' },
] as const

export async function listOrphans(scope: Scope, blobIds: readonly string[]): Promise<string[]> {
  const { rows: present } = await scope.query<{ table: string }>(
    `select t."table" from unnest($1::text[], $2::text[]) as t ("table", "column")
     where exists (select from pg_attribute a where a.attrelid = to_regclass(t."table") and a.attname = t."column")`,
    [NAMING_COLUMNS.map(({ table }) => table), NAMING_COLUMNS.map(({ column }) => column)],
  )
  const columns = NAMING_COLUMNS.filter(({ table }) => present.some((found) => found.table === table))
  const conditions = columns.map(({ table, column }) => `not exists (select from ${table} where ${column} = given.id)`)
  const { rows } = await scope.query<{ id: string }>(
    `select given.id from unnest($1::text[]) as given (id) where ${[...conditions, NO_BACKUP_RUNS].join(' and ')}`,
    [blobIds],
  )
  return rows.map(({ id }) => id)
}
