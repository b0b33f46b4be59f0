import { contentDisposition, serveBlob } from '#server/blobs/serve.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { StorageError } from './errors.ts'
import { headerTextSchema } from './header-text.ts'
import type { StoredObject } from './objects.ts'

/** Browsers show these types without running scripts; all others are downloaded. */
const INLINE_TYPES = /^(image\/(?!svg)[\w.+-]+|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain|application\/(pdf|json))$/

/** An opened object neither runs scripts nor loads other resources. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'"

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
  const answer = await serveBlob(blobs, object.blob_id, request, objectHeaders(object, { download, expiresAt }))
  if (answer.status !== 416) return answer
  const range = answer.headers.get('content-range') ?? ''
  throw new StorageError('InvalidRange', undefined, { headers: { 'Content-Range': range } })
}

function objectHeaders({ metadata, name, updated_at }: StoredObject, { download, expiresAt }: ServeOptions) {
  // Rows written by SQL may hold values that are invalid in a header.
  const text = (value: string | undefined, otherwise: string) => headerTextSchema.safeParse(value).data ?? otherwise
  const mimetype = text(metadata?.mimetype, 'application/octet-stream')
  const plainType = mimetype.split(';')[0]?.trim().toLowerCase() ?? ''
  const headers = new Headers({
    'content-type': mimetype,
    'content-security-policy': `${CONTENT_SECURITY_POLICY}${plainType === 'application/pdf' ? '' : '; sandbox'}`,
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'none',
    'accept-ranges': 'bytes',
    etag: text(metadata?.eTag, `"${updated_at.getTime()}"`),
    'last-modified': updated_at.toUTCString(),
    // One URL gives different responses to different callers.
    vary: 'authorization, apikey',
  })
  if (expiresAt === undefined) headers.set('cache-control', text(metadata?.cacheControl, 'no-cache'))
  else headers.set('expires', new Date(expiresAt * 1000).toUTCString())
  if (download !== undefined) {
    headers.set('content-disposition', download === '' ? 'attachment' : contentDisposition('attachment', download))
  } else if (!INLINE_TYPES.test(plainType)) {
    headers.set('content-disposition', contentDisposition('attachment', name.split('/').at(-1) ?? ''))
  }
  return headers
}
