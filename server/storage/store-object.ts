/** How bytes become an object: the right to write first, then the bytes, then the row; whatever fails leaves nothing. */
import { randomUUID } from 'node:crypto'
import { type Readable, Transform } from 'node:stream'
import { type BlobStore } from '#server/blobs/store.ts'
import { type Log } from '#server/base/log.ts'
import { isConnectionFailure } from '#server/database/errors.ts'
import { type Database } from '#server/database/scope.ts'
import { StorageError } from './errors.ts'
import { type ObjectPath } from './names.ts'
import { type ObjectDraft, findStoredVersion, type StoredVersion, writeVersion } from './objects.ts'

/** A file that was put below a person's folder in the bucket `documents`. */
export interface DocumentFile {
  readonly owner: string
  readonly name: string
  /** Its name below the bucket. */
  readonly key: string
  readonly mimetype: string
  readonly size: number
  /** Reads the bytes from their beginning. They belong to the object: what is to outlive it must be copied. */
  readonly open: () => Promise<Readable>
}

export interface StoreOptions {
  readonly database: Database
  readonly blobs: BlobStore
  readonly log: Log
  /** Called before the object is there; what it throws refuses the upload. */
  readonly onDocumentUpload?: ((file: DocumentFile) => Promise<void>) | undefined
}

interface StoreRequest {
  readonly draft: ObjectDraft
  readonly upsert: boolean
  /** Throws where the row may not be written. Asked again where something else stands at the key when the bytes are in. */
  readonly requireWriteAccess: () => Promise<void>
  readonly putBytes: () => Promise<{ readonly id: string; readonly size: number }>
}

const DOCUMENTS_BUCKET = 'documents'
const MAX_ATTEMPTS = 5
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Stores at most so many bytes. The source is left as it is where it breaks the limit: its connection still has to
 * carry the answer.
 * @throws StorageError `EntityTooLarge`, or `InvalidRequest` where the source breaks off.
 */
export async function putLimited(
  blobs: BlobStore,
  source: Readable,
  maxBytes: number,
): Promise<{ readonly id: string; readonly size: number }> {
  let size = 0
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.byteLength
      if (size > maxBytes) done(new StorageError('EntityTooLarge'))
      else done(null, chunk)
    },
  })
  // Whoever stores the bytes hears of an error as well, but may not be listening yet.
  counting.on('error', () => undefined)
  const abort = (cause: unknown) => {
    counting.destroy(
      cause instanceof StorageError ? cause : new StorageError('InvalidRequest', 'The upload broke off', { cause }),
    )
  }
  source.once('error', abort)
  source.once('close', () => source.readableEnded || abort(undefined))
  if (source.destroyed && !source.readableEnded) abort(source.errored)
  source.pipe(counting)
  try {
    return await blobs.put(counting)
  } catch (error) {
    source.unpipe(counting)
    throw counting.errored ?? error
  }
}

/** @returns the object's id. @throws StorageError `AccessDenied`, `KeyAlreadyExists`, and what putting the bytes throws */
export async function storeObject(parts: StoreOptions, storing: StoreRequest): Promise<string> {
  const { database } = parts
  const { draft, upsert, requireWriteAccess: requireMayWrite, putBytes } = storing
  const standing = upsert ? await findStoredVersion(database, draft.target) : undefined
  await requireMayWrite()
  const blob = await putBytes()
  let keepsBytes = false
  try {
    await announceDocument(parts, draft, blob)
    const id = await writeRow(parts, storing, blob, standing)
    keepsBytes = true
    return id
  } catch (error) {
    keepsBytes = isConnectionFailure(error) && (await mayReferenceBlob(parts, blob.id))
    throw error
  } finally {
    if (!keepsBytes) await removeBytes(parts, blob.id)
  }
}

/** Of the two failures, the first is the one to tell. */
async function removeBytes({ blobs, log }: StoreOptions, blobId: string): Promise<void> {
  try {
    await blobs.remove(blobId)
  } catch (error) {
    log.warn({ err: error, blob: blobId }, 'the bytes of an upload that failed could not be removed')
  }
}

async function writeRow(
  { database }: StoreOptions,
  { draft, upsert, requireWriteAccess: requireMayWrite }: StoreRequest,
  blob: { readonly id: string; readonly size: number },
  seen: StoredVersion | undefined,
): Promise<string> {
  const version = randomUUID()
  const metadata = {
    ...draft.metadata,
    eTag: `"${version}"`,
    size: blob.size,
    contentLength: blob.size,
    lastModified: new Date().toISOString(),
    httpStatusCode: 200,
  }
  let standing = seen
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const id = await writeVersion(database, { ...draft, metadata, version, blobId: blob.id }, standing)
    if (id !== undefined) return id
    if (!upsert) break
    // The right to make an object is not the right to overwrite the one that somebody else made meanwhile.
    standing = await findStoredVersion(database, draft.target)
    await requireMayWrite()
  }
  throw new StorageError('KeyAlreadyExists')
}

/** After a connection was lost nobody knows whether the row was written: bytes too many are better than too few. */
async function mayReferenceBlob({ database, log }: StoreOptions, blobId: string): Promise<boolean> {
  try {
    const { rowCount } = await database.serviceStatement('select from storage.objects where blob_id = $1', [blobId])
    return rowCount !== 0
  } catch (error) {
    log.warn({ err: error, blob: blobId }, 'these bytes are kept although their object may not have been written')
    return true
  }
}

async function announceDocument(
  { blobs, onDocumentUpload }: StoreOptions,
  { target, metadata }: ObjectDraft,
  { id, size }: { readonly id: string; readonly size: number },
): Promise<void> {
  const owner = documentOwner(target)
  if (owner === undefined || !onDocumentUpload) return
  await onDocumentUpload({
    owner,
    name: target.key.split('/').at(-1) ?? '',
    key: target.key,
    mimetype: metadata.mimetype ?? 'application/octet-stream',
    size,
    open: () => blobs.open(id),
  })
}

/** Whose folder of the documents bucket a key lies below. */
function documentOwner({ bucket, key }: ObjectPath): string | undefined {
  const [folder = '', ...below] = key.split('/')
  return bucket === DOCUMENTS_BUCKET && below.length > 0 && UUID.test(folder) ? folder : undefined
}
