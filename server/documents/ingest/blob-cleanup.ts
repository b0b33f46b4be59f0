/** Removes bytes that nothing names: what a crash left between storing them and inserting their row. */
import { type BlobStore } from '#server/blobs/store.ts'
import { type Database, type Scope } from '#server/database/scope.ts'

/** No upload takes that long; a row that names a blob is inserted by the request that stored it. */
const LEAST_AGE_MS = 24 * 60 * 60_000
const BATCH = 500

/** Every column that names blobs; those of the storage service are not there where another serves it. */
const NAMED_BY = [
  { table: 'public.documents', column: 'path' },
  { table: 'public.discarded_blobs', column: 'path' },
  { table: 'storage.objects', column: 'blob_id' },
  { table: 'storage.discarded_blobs', column: 'blob_id' },
] as const

/** Answers how many were removed. Looks into the tables after the list, so that nothing in between is missed. */
export async function sweepBlobs(
  { database, blobs }: { readonly database: Database; readonly blobs: BlobStore },
  { now = Date.now(), signal }: { readonly now?: number; readonly signal?: AbortSignal } = {},
): Promise<number> {
  let removed = 0
  let batch: string[] = []
  const sweep = async () => {
    const orphans = await database.asService((scope) => listUnnamed(scope, batch))
    for (const id of orphans) await blobs.remove(id)
    removed += orphans.length
    batch = []
  }
  for await (const { id, modifiedAt } of blobs.list()) {
    signal?.throwIfAborted()
    if (now - modifiedAt.getTime() < LEAST_AGE_MS) continue
    batch.push(id)
    if (batch.length === BATCH) await sweep()
  }
  if (batch.length > 0) await sweep()
  return removed
}

async function listUnnamed(scope: Scope, ids: readonly string[]): Promise<string[]> {
  const { rows: there } = await scope.query<{ table: string }>(
    `select t."table" from unnest($1::text[], $2::text[]) as t ("table", "column")
     where exists (select from pg_attribute a where a.attrelid = to_regclass(t."table") and a.attname = t."column")`,
    [NAMED_BY.map(({ table }) => table), NAMED_BY.map(({ column }) => column)],
  )
  const named = NAMED_BY.filter(({ table }) => there.some((found) => found.table === table))
  const conditions = named.map(({ table, column }) => `not exists (select from ${table} where ${column} = given.id)`)
  const { rows } = await scope.query<{ id: string }>(
    `select given.id from unnest($1::text[]) as given (id) where ${conditions.join(' and ')}`,
    [ids],
  )
  return rows.map(({ id }) => id)
}
