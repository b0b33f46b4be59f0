import { Readable } from 'node:stream'
import { INERT_CONTENT_POLICY } from '#server/base/content-policy.ts'
import { AppError } from '#server/base/errors.ts'
import { isShownByBrowsers, listedMediaType } from './media-types.ts'
import { sendFromReusedBuffer } from './send.ts'
import type { BlobStore, ByteRange } from './store.ts'

export interface ServedFile {
  readonly blobId: string
  /** As declared or stored, whatever it is. */
  readonly mediaType: string | undefined
  readonly name: string
  /** Saved under this name, if empty under that of the URL, even where a browser may show the type. */
  readonly downloadName?: string | undefined
  /** For caches. `etag` and `last-modified` are compared with the request's conditions. */
  readonly headers: Readonly<Record<string, string>>
}

/** Absent in requests of programs and old browsers. A file is never a script, style, worker, manifest or frame. */
const SERVED_DESTINATIONS: ReadonlySet<string> = new Set([
  'empty',
  'document',
  'image',
  'audio',
  'video',
  'track',
  'font',
])

/** @throws AppError `not_found`, `forbidden` if a browser would run or embed the file */
export async function serveBlob(blobs: BlobStore, file: ServedFile, request: Request): Promise<Response> {
  const destination = request.headers.get('sec-fetch-dest') ?? 'empty'
  if (!SERVED_DESTINATIONS.has(destination)) {
    throw new AppError(
      'forbidden',
      `A stored file cannot be used as ${destination}. Download it, or show it as an image.`,
    )
  }
  const id = file.blobId
  const headers = fileHeaders(file)
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

function fileHeaders({ mediaType, name, downloadName, headers }: ServedFile): Headers {
  const listed = listedMediaType(mediaType)
  const served = new Headers({
    ...headers,
    'content-type': listed,
    'content-security-policy': INERT_CONTENT_POLICY,
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
  })
  if (downloadName === '') served.set('content-disposition', 'attachment')
  else if (downloadName !== undefined || !isShownByBrowsers(listed))
    served.set('content-disposition', asAttachment(downloadName ?? name))
  return served
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
function asAttachment(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
