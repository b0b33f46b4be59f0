/** Stores an object: checks write access, then stores the bytes, then writes the row. A failure leaves nothing but bytes for the sweep. */
import { randomUUID } from 'node:crypto'
import { type Readable, Transform } from 'node:stream'
import type { Log } from '#server/base/log.ts'
import { openTransfer } from '#server/base/transfer-turns.ts'
import { removeUnnamed } from '#server/blobs/remove-unnamed.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { mayBeCommitted } from '#server/database/errors.ts'
import type { Database } from '#server/database/scope.ts'
import { StorageError } from './errors.ts'
import type { ObjectPath } from './names.ts'
import { type ObjectDraft, findStoredVersion, type StoredVersion, writeVersion } from './objects.ts'

/** Lies below a person's folder in the bucket `documents`. */
export interface DocumentFile {
  readonly owner: string
  readonly name: string
  /** Path within the bucket. */
  readonly key: string
  readonly mimetype: string
  readonly size: number
  /** The bytes are removed together with the object. */
  readonly open: () => Promise<Readable>
}

export interface StoreOptions {
  readonly database: Database
  readonly blobs: BlobStore
  readonly log: Log
  /** Called before the row is written; throwing rejects the upload. */
  readonly onDocumentUpload?: ((file: DocumentFile) => Promise<void>) | undefined
  /** Bytes that a person may add to the bucket, and the message for an upload of more. */
  readonly findRoom?: ((owner: string, bucket: string) => Promise<{ bytes: number; message: string }>) | undefined
}

interface StoreRequest {
  readonly draft: ObjectDraft
  readonly upsert: boolean
  /** Throws without write access. Called again if the key changed while the bytes were stored. */
  readonly requireWriteAccess: () => Promise<void>
  /** Throws if the right has ended while the bytes arrived. */
  readonly requireStillAllowed?: () => Promise<void>
  readonly putBytes: () => Promise<{ readonly id: string; readonly size: number }>
}

const DOCUMENTS_BUCKET = 'documents'
const MAX_ATTEMPTS = 5
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface ByteLimit {
  readonly maxBytes: number
  /** Text of the error beyond it. */
  readonly message?: string | undefined
}

/** The room of the owner, where it is less than `maxBytes`. @throws StorageError `EntityTooLarge` for a declared size */
export async function limitToRoom(
  { findRoom }: Pick<StoreOptions, 'findRoom'>,
  { owner, target, metadata: { size = 0 } }: Pick<ObjectDraft, 'owner' | 'target' | 'metadata'>,
  maxBytes: number,
): Promise<ByteLimit> {
  if (owner === undefined || !findRoom) return { maxBytes }
  const { bytes, message } = await findRoom(owner, target.bucket)
  if (size > bytes || bytes === 0) throw new StorageError('EntityTooLarge', message)
  return bytes < maxBytes ? { maxBytes: bytes, message } : { maxBytes }
}

/** An oversized source stays open for the response. @throws StorageError `EntityTooLarge`, `InvalidRequest` (abort). */
export async function putLimited(
  blobs: BlobStore,
  source: Readable,
  { maxBytes, message }: ByteLimit,
): Promise<{ readonly id: string; readonly size: number }> {
  let size = 0
  const transfer = openTransfer()
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.byteLength
      if (size > maxBytes) done(new StorageError('EntityTooLarge', message))
      else transfer.pass(() => done(null, chunk))
    },
  })
  // An error before the blob store listens must not be unhandled.
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
  } finally {
    transfer.end()
  }
}

/** Returns the object's id. @throws StorageError `AccessDenied`, `KeyAlreadyExists`, or an error of `putBytes` */
export async function storeObject(options: StoreOptions, request: StoreRequest): Promise<string> {
  const { database } = options
  const { draft, upsert, requireWriteAccess, putBytes } = request
  const expected = upsert ? await findStoredVersion(database, draft.target) : undefined
  await requireWriteAccess()
  const blob = await putBytes()
  let keepsBytes = false
  try {
    await request.requireStillAllowed?.()
    await announceDocument(options, draft, blob)
    const id = await writeRow(options, request, blob, expected)
    keepsBytes = true
    return id
  } catch (error) {
    // The row may exist, or be committed later. The sweep removes bytes that none names.
    keepsBytes = mayBeCommitted(error)
    throw error
  } finally {
    if (!keepsBytes) await removeUnnamed(options, blob.id)
  }
}

async function writeRow(
  { database }: StoreOptions,
  { draft, upsert, requireWriteAccess }: StoreRequest,
  blob: { readonly id: string; readonly size: number },
  initial: StoredVersion | undefined,
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
  let expected = initial
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const id = await writeVersion(database, { ...draft, metadata, version, blobId: blob.id }, expected)
    if (id !== undefined) return id
    if (!upsert) break
    // Another request may have created the object meanwhile, and overwriting needs its own permission.
    expected = await findStoredVersion(database, draft.target)
    await requireWriteAccess()
  }
  throw new StorageError('KeyAlreadyExists')
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

function documentOwner({ bucket, key }: ObjectPath): string | undefined {
  const [folder = '', ...below] = key.split('/')
  return bucket === DOCUMENTS_BUCKET && below.length > 0 && UUID.test(folder) ? folder : undefined
}
