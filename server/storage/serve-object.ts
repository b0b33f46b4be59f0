/** The bytes of an object as an answer. */
import { contentDisposition, serveBlob } from '#server/blobs/serve.ts'
import { type BlobStore } from '#server/blobs/store.ts'
import { StorageError } from './errors.ts'
import { headerTextSchema } from './header-text.ts'
import { type StoredObject } from './objects.ts'

/** Types that a browser shows without running anything in them. Everything else is offered for saving. */
const INLINE_TYPES = /^(image\/(?!svg)[\w.+-]+|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain|application\/(pdf|json))$/

/** Whatever an object holds, it runs nothing and loads nothing when it is opened by its address. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'"

export interface ServeOptions {
  /** Offer for saving: under this name, or under the address's own where it is empty. */
  readonly download?: string | undefined
  /** The second until which a signed address holds. */
  readonly expiresAt?: number | undefined
}

/** @throws StorageError `NoSuchKey` without bytes, `InvalidRange`; AppError `not_found` where they were just removed. */
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
  // Whoever writes the table itself may have put there what no header can carry.
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
    // The same address answers each caller differently.
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
