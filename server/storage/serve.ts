/** The bytes of an object as an answer (RFC 9110: conditional requests and one range). */
import { Readable } from 'node:stream'
import { type BlobStore, type ByteRange } from '#server/blobs/store.ts'
import { StorageError } from './errors.ts'
import { headerText } from './header-text.ts'
import { type StoredObject } from './objects.ts'

/** Types that a browser shows without running anything in them. Everything else is offered for saving. */
const SHOWN_INLINE = /^(image\/(?!svg)[\w.+-]+|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain|application\/(pdf|json))$/

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
  const size = await blobs.size(object.blob_id)
  const headers = describe(object, { download, expiresAt })
  const etag = headers.get('etag') ?? ''
  const modified = headers.get('last-modified')
  if (isUnchanged(request.headers, etag, modified)) return new Response(null, { status: 304, headers })

  const asked = request.headers.get('range')
  const ifRange = request.headers.get('if-range')
  const range =
    asked !== null && (ifRange === null || ifRange === etag || ifRange === modified)
      ? parseRange(asked, size)
      : undefined
  headers.set('content-length', String(range ? range.end - range.start + 1 : size))
  if (range) headers.set('content-range', `bytes ${range.start}-${range.end}/${size}`)
  const status = range ? 206 : 200
  if (request.method === 'HEAD') return new Response(null, { status, headers })
  const bytes = Readable.toWeb(await blobs.open(object.blob_id, range)) as ReadableStream<Uint8Array>
  return new Response(bytes, { status, headers })
}

function describe({ metadata, name, updated_at }: StoredObject, { download, expiresAt }: ServeOptions) {
  // Whoever writes the table itself may have put there what no header can carry.
  const text = (value: string | undefined, otherwise: string) => headerText.safeParse(value).data ?? otherwise
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
    headers.set('content-disposition', download === '' ? 'attachment' : attachment(download))
  } else if (!SHOWN_INLINE.test(plainType)) {
    headers.set('content-disposition', attachment(name.split('/').at(-1) ?? ''))
  }
  return headers
}

/** RFC 6266: a plain name for old programs, the real one encoded as RFC 8187 says. */
function attachment(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** The tag decides where the caller has one; times count only in whole seconds. */
function isUnchanged(headers: Headers, etag: string, modified: string | null): boolean {
  const ifNoneMatch = headers.get('if-none-match')
  if (ifNoneMatch !== null)
    return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
  const since = headers.get('if-modified-since')
  return since !== null && modified !== null && Date.parse(modified) <= Date.parse(since)
}

/**
 * One range of bytes; several at once, or another unit, are answered with the whole.
 * @throws StorageError `InvalidRange` for one that lies outside.
 */
function parseRange(header: string, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header.trim()) ?? []
  if (first === '' && last === '') return undefined
  const outside = () => new StorageError('InvalidRange', undefined, { headers: { 'Content-Range': `bytes */${size}` } })
  if (first === '') {
    const length = Number(last)
    if (length === 0 || size === 0) throw outside()
    return { start: Math.max(0, size - length), end: size - 1 }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) throw outside()
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}
