import pg from 'pg'
import type { VerifiedClaims } from '#server/access/tokens.ts'
import { ENFORCE_QUOTAS } from '#server/database/quotas.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import { asCaller } from './caller.ts'
import { StorageError } from './errors.ts'
import type { ObjectPath } from './names.ts'

export interface Bucket {
  readonly id: string
  readonly public: boolean
  readonly file_size_limit: number | null
  readonly allowed_mime_types: string[] | null
}

export interface ObjectMetadata {
  readonly eTag?: string | undefined
  readonly size?: number | undefined
  readonly mimetype?: string | undefined
  readonly cacheControl?: string | undefined
  readonly lastModified?: string | undefined
  readonly contentLength?: number | undefined
  readonly httpStatusCode?: number | undefined
}

export interface StoredObject {
  readonly id: string
  readonly bucket_id: string
  readonly name: string
  readonly owner: string | null
  readonly version: string | null
  readonly blob_id: string | null
  readonly metadata: ObjectMetadata | null
  readonly user_metadata: Record<string, unknown> | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Omits the id of the blob. */
const VISIBLE_COLUMNS =
  'id, bucket_id, name, owner, owner_id, version, metadata, user_metadata, created_at, updated_at, last_accessed_at'

/** Reads as the service: limits apply to callers who cannot see the bucket. @throws StorageError `NoSuchBucket` */
export async function getBucket(database: Database, id: string): Promise<Bucket> {
  const { rows } = await database.serviceStatement<Bucket & pg.QueryResultRow>(
    `select id, coalesce(public, false) as public, file_size_limit, allowed_mime_types
     from storage.buckets where id = $1 and type = 'STANDARD'`,
    [id],
  )
  if (!rows[0]) throw new StorageError('NoSuchBucket')
  return rows[0]
}

const SELECT_OBJECT = `
  select id, bucket_id, name, owner, version, blob_id, metadata, user_metadata, created_at, updated_at
  from storage.objects where bucket_id = $1 and name = $2`

/** @throws StorageError `NoSuchKey` for a missing or invisible object. */
export async function getObject(scope: Scope, { bucket, key }: ObjectPath): Promise<StoredObject> {
  const { rows } = await scope.query<StoredObject & pg.QueryResultRow>(SELECT_OBJECT, [bucket, key])
  if (!rows[0]) throw new StorageError('NoSuchKey')
  return rows[0]
}

export async function findVisibleKeys(scope: Scope, bucket: string, keys: readonly string[]): Promise<Set<string>> {
  const { rows } = await scope.query<{ name: string }>(
    'select name from storage.objects where bucket_id = $1 and name = any($2)',
    [bucket, keys],
  )
  return new Set(rows.map(({ name }) => name))
}

/** Skips objects that the caller may not remove. */
export async function removeObjects(scope: Scope, bucket: string, keys: readonly string[]): Promise<unknown[]> {
  const { rows } = await scope.query(
    `delete from storage.objects where bucket_id = $1 and name = any($2) returning ${VISIBLE_COLUMNS}`,
    [bucket, keys],
  )
  return rows
}

/** Changes the row only; the bytes stay in place. @throws StorageError `NoSuchKey`, `AccessDenied` */
export async function moveObject(
  scope: Scope,
  from: ObjectPath,
  to: ObjectPath,
  owner: string | undefined,
): Promise<void> {
  await getObject(scope, from)
  const { rowCount } = await scope.query(
    `update storage.objects
     set bucket_id = $3, name = $4, owner = coalesce($5::uuid, owner), owner_id = coalesce($5::uuid::text, owner_id)
     where bucket_id = $1 and name = $2`,
    [from.bucket, from.key, to.bucket, to.key, owner ?? null],
  )
  if (rowCount === 0) throw new StorageError('AccessDenied')
}

export interface ObjectDraft {
  readonly target: ObjectPath
  readonly owner: string | undefined
  readonly metadata: ObjectMetadata
  readonly userMetadata: Record<string, unknown>
}

const INSERT_OBJECT = `
  insert into storage.objects (bucket_id, name, owner, owner_id, version, metadata, user_metadata)
  values ($1, $2, $3::uuid, $3::uuid::text, $4, $5, $6)`
const OR_OVERWRITE = `
  on conflict (bucket_id, name) do update set owner = excluded.owner, owner_id = excluded.owner_id,
    version = excluded.version, metadata = excluded.metadata, user_metadata = excluded.user_metadata`

/** Writes as the caller and rolls back. @throws StorageError `AccessDenied`, or `KeyAlreadyExists` without `upsert`. */
export async function requireWriteAccess(
  database: Database,
  claims: VerifiedClaims,
  { target: { bucket, key }, owner, metadata, userMetadata }: ObjectDraft,
  { upsert }: { upsert: boolean },
): Promise<void> {
  const rollback = new Error('written only to see whether it could be')
  try {
    await asCaller(database, claims, async (scope) => {
      await scope.query(upsert ? INSERT_OBJECT + OR_OVERWRITE : INSERT_OBJECT, [
        bucket,
        key,
        owner ?? null,
        '1',
        metadata,
        userMetadata,
      ])
      throw rollback
    })
  } catch (error) {
    if (error === rollback) return
    if (error instanceof pg.DatabaseError && error.code === '23505')
      throw new StorageError('KeyAlreadyExists', undefined, { cause: error })
    throw error
  }
}

/** Detects a concurrent change. */
export interface StoredVersion {
  readonly id: string
  readonly version: string | null
}

export async function findStoredVersion(
  database: Database,
  { bucket, key }: ObjectPath,
): Promise<StoredVersion | undefined> {
  const { rows } = await database.serviceStatement<StoredVersion & pg.QueryResultRow>(
    'select id, version from storage.objects where bucket_id = $1 and name = $2',
    [bucket, key],
  )
  return rows[0]
}

export interface NewVersion extends ObjectDraft {
  readonly version: string
  readonly blobId: string
}

/** Writes as the service if the key still holds the checked version. Undefined after a concurrent change. */
export async function writeVersion(
  database: Database,
  { target: { bucket, key }, owner, metadata, userMetadata, version, blobId }: NewVersion,
  expected: StoredVersion | undefined,
): Promise<string | undefined> {
  const values = [owner ?? null, version, metadata, userMetadata, blobId]
  const write = (text: string, given: readonly unknown[]) =>
    database.asService((scope) => scope.query<{ id: string }>(text, given), {
      // Only the service key uploads without an owner.
      settings: owner === undefined ? {} : ENFORCE_QUOTAS,
    })
  const { rows } = expected
    ? await write(
        `update storage.objects
         set owner = $1::uuid, owner_id = $1::uuid::text, version = $2, metadata = $3, user_metadata = $4, blob_id = $5
         where id = $6 and bucket_id = $7 and name = $8 and version is not distinct from $9 returning id`,
        [...values, expected.id, bucket, key, expected.version],
      )
    : await write(
        `insert into storage.objects (owner, owner_id, version, metadata, user_metadata, blob_id, bucket_id, name)
         values ($1::uuid, $1::uuid::text, $2, $3, $4, $5, $6, $7) on conflict (bucket_id, name) do nothing returning id`,
        [...values, bucket, key],
      )
  return rows[0]?.id
}
