import { serveBlob } from '#server/blobs/serve.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { StorageError } from './errors.ts'
import { headerTextSchema } from './header-text.ts'
import type { StoredObject } from './objects.ts'

export interface ServeOptions {
  /** Empty: the name in the URL. */
  readonly download?: string | undefined
  /** Expiry of a signed URL, in seconds since 1970. */
  readonly expiresAt?: number | undefined
}

/** @throws StorageError `NoSuchKey` without bytes, `InvalidRange`; AppError `not_found` if bytes were just removed. */
export async function serveObject(
  blobs: BlobStore,
  object: StoredObject,
  request: Request,
  { download, expiresAt }: ServeOptions = {},
): Promise<Response> {
  if (object.blob_id === null) throw new StorageError('NoSuchKey')
  const file = {
    blobId: object.blob_id,
    mediaType: object.metadata?.mimetype,
    name: object.name.split('/').at(-1) ?? '',
    downloadName: download,
    headers: cacheHeaders(object, expiresAt),
  }
  const answer = await serveBlob(blobs, file, request)
  if (answer.status !== 416) return answer
  const range = answer.headers.get('content-range') ?? ''
  throw new StorageError('InvalidRange', undefined, { headers: { 'Content-Range': range } })
}

function cacheHeaders({ metadata, updated_at }: StoredObject, expiresAt: number | undefined): Record<string, string> {
  // Rows written by SQL may hold values that are invalid in a header.
  const text = (value: string | undefined, otherwise: string) => headerTextSchema.safeParse(value).data ?? otherwise
  return {
    'x-robots-tag': 'none',
    etag: text(metadata?.eTag, `"${updated_at.getTime()}"`),
    'last-modified': updated_at.toUTCString(),
    // One URL gives different responses to different callers.
    vary: 'authorization, apikey',
    ...(expiresAt === undefined
      ? { 'cache-control': text(metadata?.cacheControl, 'no-cache') }
      : { expires: new Date(expiresAt * 1000).toUTCString() }),
  }
}
