/** The bytes of a document as uploaded, to their owner alone (RFC 9110: conditional requests and one range). */
import { Readable } from 'node:stream'
import { type BlobStore, type ByteRange } from '#server/blobs/store.ts'
import { type Claims, type Database } from '#server/database/scope.ts'
import { getDocumentFile } from './queries.ts'

/** Types that a browser may show by itself. Everything else is offered for saving. */
const SHOWN_INLINE = new Set(['application/pdf', 'image/png', 'image/jpeg', 'text/plain'])

/** Whatever a file holds, it runs nothing and loads nothing when it is opened by its address. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; sandbox"

interface FileParts {
  readonly database: Database
  readonly blobs: BlobStore
}

/** @throws AppError `not_found` */
export async function serveFile(
  { database, blobs }: FileParts,
  claims: Claims,
  id: string,
  request: Request,
): Promise<Response> {
  const { filename, mimetype, path, sha256 } = await database.asUser(claims, (scope) => getDocumentFile(scope, id), {
    readOnly: true,
  })
  const size = await blobs.size(path)
  const etag = `"${sha256}"`
  const headers = new Headers({
    'content-type': mimetype === 'text/plain' ? 'text/plain; charset=utf-8' : mimetype,
    'content-disposition': disposition(SHOWN_INLINE.has(mimetype) ? 'inline' : 'attachment', filename),
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    etag,
  })
  if (matches(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers })

  const asked = request.headers.get('range')
  const ifRange = request.headers.get('if-range')
  const range = asked !== null && (ifRange === null || ifRange === etag) ? parseRange(asked, size) : undefined
  if (range === 'unsatisfiable') {
    headers.set('content-range', `bytes */${size}`)
    return new Response(null, { status: 416, headers })
  }
  headers.set('content-length', String(range ? range.end - range.start + 1 : size))
  if (range) headers.set('content-range', `bytes ${range.start}-${range.end}/${size}`)
  const status = range ? 206 : 200
  if (request.method === 'HEAD') return new Response(null, { status, headers })
  const bytes = Readable.toWeb(await blobs.open(path, range)) as ReadableStream<Uint8Array>
  return new Response(bytes, { status, headers })
}

const matches = (header: string | null, etag: string): boolean =>
  header !== null && header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)

/** One range of bytes; several at once, or another unit, are answered with the whole file. */
function parseRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const parsed = /^bytes=(\d*)-(\d*)$/.exec(header.trim())
  if (!parsed) return undefined
  const [, first = '', last = ''] = parsed
  if (first === '') {
    const length = Number(last)
    if (last === '') return undefined
    return length === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start >= size ? 'unsatisfiable' : { start, end }
}

/** RFC 6266: a plain name for old programs, the real one encoded as RFC 8187 says. */
function disposition(kind: 'inline' | 'attachment', filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
