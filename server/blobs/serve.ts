import { Readable } from 'node:stream'
import { sendFromReusedBuffer } from './send.ts'
import type { BlobStore, ByteRange } from './store.ts'

/** Compares `etag` and `last-modified` of `headers` with the request's conditions. @throws AppError `not_found` */
export async function serveBlob(blobs: BlobStore, id: string, request: Request, headers: Headers): Promise<Response> {
  const size = await blobs.size(id)
  const etag = headers.get('etag') ?? ''
  const modified = headers.get('last-modified')
  if (isUnchanged(request.headers, etag, modified)) return new Response(null, { status: 304, headers })

  const asked = request.headers.get('range')
  const ifRange = request.headers.get('if-range')
  const isCurrent = ifRange === null || ifRange === etag || ifRange === modified
  const range = asked !== null && isCurrent ? parseRange(asked, size) : undefined
  if (range === 'unsatisfiable') {
    headers.set('content-range', `bytes */${size}`)
    return new Response(null, { status: 416, headers })
  }
  const part = range ?? { start: 0, end: size - 1 }
  headers.set('content-length', String(part.end - part.start + 1))
  if (range) headers.set('content-range', `bytes ${range.start}-${range.end}/${size}`)
  const status = range ? 206 : 200
  if (request.method === 'HEAD' || size === 0) return new Response(null, { status, headers })
  if (!blobs.stream) {
    const bytes = Readable.toWeb(await blobs.open(id, range)) as ReadableStream<Uint8Array>
    return new Response(bytes, { status, headers })
  }
  const bytes = await blobs.stream(id, part)
  sendFromReusedBuffer(request, bytes)
  return new Response(bytes, { status, headers })
}

function isUnchanged(headers: Headers, etag: string, modified: string | null): boolean {
  const ifNoneMatch = headers.get('if-none-match')
  if (ifNoneMatch !== null)
    return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
  const since = headers.get('if-modified-since')
  return since !== null && modified !== null && Date.parse(modified) <= Date.parse(since)
}

/** Undefined for several ranges or another unit, which return the complete blob. */
function parseRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header.trim()) ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Number(last)
    return length === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size - 1 }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) return 'unsatisfiable'
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

/** RFC 6266: an ASCII name for old clients, the real one encoded by RFC 8187. */
export function contentDisposition(kind: 'inline' | 'attachment', filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
