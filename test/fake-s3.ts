/** An S3 store on loopback with the operations that blobs need; checks signatures (SigV4) and part sizes. */
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { S3Options } from '#server/blobs/s3-client.ts'

const LEAST_PART_BYTES = 5 * 1024 * 1024

export interface FakeS3 {
  readonly options: S3Options
  /** Keys of all objects and of unfinished uploads. */
  keys(): string[]
  /** Bytes of the objects that a test reads or damages. */
  readonly objects: Map<string, Buffer>
  /** An upload that a crash cut off. */
  addUnfinished(key: string, initiated: Date): void
  close(): Promise<void>
}

class Refused extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const etagOf = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function checkSignature(request: IncomingMessage, body: Buffer, { accessKey, secretKey, region }: S3Options): void {
  const parsed = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
    request.headers.authorization ?? '',
  ) // prettier-ignore
  const [, key, date = '', scope, signed = '', signature = ''] = parsed ?? []
  if (key !== accessKey || scope !== region) throw new Refused(403, 'InvalidAccessKeyId')
  const headerOf = (name: string) => String(request.headers[name] ?? '').trim()
  const contentHash = headerOf('x-amz-content-sha256')
  if (contentHash !== 'UNSIGNED-PAYLOAD' && contentHash !== sha256(body))
    throw new Refused(400, 'XAmzContentSHA256Mismatch')
  const url = new URL(request.url ?? '/', 'http://s3')
  const query = [...url.searchParams].map((pair) => pair.map(encodeURIComponent).join('=')).sort().join('&') // prettier-ignore
  const names = signed.split(';')
  const canonical = [
    request.method,
    url.pathname,
    query,
    ...names.map((name) => `${name}:${headerOf(name)}`),
    '',
    signed,
    contentHash,
  ].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', headerOf('x-amz-date'), `${date}/${region}/s3/aws4_request`, sha256(canonical)]
  const signingKey = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secretKey}`, date))
  if (!timingSafeEqual(hmac(signingKey, toSign.join('\n')), Buffer.from(signature, 'hex')))
    throw new Refused(403, 'SignatureDoesNotMatch')
}

export async function startFakeS3(): Promise<FakeS3> {
  const objects = new Map<string, Buffer>()
  const uploads = new Map<
    string,
    { readonly key: string; readonly parts: Map<number, Buffer>; readonly initiated: Date }
  >()
  const credentials = { bucket: 'blobs', region: 'eu-test-1', accessKey: 'access', secretKey: randomUUID() }

  function finish(id: string): void {
    const upload = uploads.get(id)
    if (!upload) throw new Refused(404, 'NoSuchUpload')
    const parts = [...upload.parts].sort(([a], [b]) => a - b).map(([, part]) => part)
    if (parts.slice(0, -1).some(({ length }) => length < LEAST_PART_BYTES)) throw new Refused(400, 'EntityTooSmall')
    objects.set(upload.key, Buffer.concat(parts))
    uploads.delete(id)
  }

  function sendObject(request: IncomingMessage, response: ServerResponse, key: string): void {
    const bytes = objects.get(key)
    if (!bytes) throw new Refused(404, 'NoSuchKey')
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const sent = first === undefined ? bytes : bytes.subarray(Number(first), Number(last) + 1)
    response.writeHead(first === undefined ? 200 : 206, { etag: etagOf(bytes), 'content-length': sent.length })
    response.end(request.method === 'HEAD' ? undefined : sent)
  }

  /** One object per page, so that a client has to request further pages. */
  function listing(query: URLSearchParams): string {
    const after = query.get('continuation-token') ?? ''
    const prefix = query.get('prefix') ?? ''
    const [key, next] = [...objects.keys()].sort().filter((known) => known > after && known.startsWith(prefix))
    const contents = key === undefined ? '' : `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>${objects.get(key)?.length ?? 0}</Size></Contents>` // prettier-ignore
    const more = next === undefined ? '' : `<NextContinuationToken>${key ?? ''}</NextContinuationToken>`
    return `<ListBucketResult><IsTruncated>${next !== undefined}</IsTruncated>${contents}${more}</ListBucketResult>`
  }

  /** One upload per page, in the order of ids. */
  function uploadListing(query: URLSearchParams): string {
    const after = query.get('upload-id-marker') ?? ''
    const [first, next] = [...uploads].filter(([id]) => id > after).toSorted(([a], [b]) => (a < b ? -1 : 1))
    const upload = first && `<Upload><Key>${first[1].key}</Key><UploadId>${first[0]}</UploadId><Initiated>${first[1].initiated.toISOString()}</Initiated></Upload>` // prettier-ignore
    const more = next && `<NextKeyMarker>${first?.[1].key ?? ''}</NextKeyMarker><NextUploadIdMarker>${first?.[0] ?? ''}</NextUploadIdMarker>` // prettier-ignore
    return `<ListMultipartUploadsResult><IsTruncated>${next !== undefined}</IsTruncated>${upload ?? ''}${more ?? ''}</ListMultipartUploadsResult>`
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    checkSignature(request, body, options)
    const url = new URL(request.url ?? '/', 'http://s3')
    const [, bucket, ...folders] = url.pathname.split('/')
    const key = folders.map(decodeURIComponent).join('/')
    if (bucket !== credentials.bucket) throw new Refused(404, 'NoSuchBucket')
    const uploadId = url.searchParams.get('uploadId')
    const part = url.searchParams.get('partNumber')
    const xml = (text: string) => response.writeHead(200, { 'content-type': 'application/xml' }).end(text)
    if (request.method === 'POST' && url.searchParams.has('uploads')) {
      const id = randomUUID()
      uploads.set(id, { key, parts: new Map(), initiated: new Date() })
      xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
    } else if (request.method === 'PUT' && uploadId !== null) {
      uploads.get(uploadId)?.parts.set(Number(part), body)
      response.writeHead(200, { etag: etagOf(body) }).end()
    } else if (request.method === 'POST' && uploadId !== null) {
      finish(uploadId)
      xml(`<CompleteMultipartUploadResult><Key>${key}</Key><ETag>"whole"</ETag></CompleteMultipartUploadResult>`)
    } else if (request.method === 'PUT') {
      objects.set(key, body)
      response.writeHead(200, { etag: etagOf(body) }).end()
    } else if (request.method === 'DELETE') {
      if (uploadId === null) objects.delete(key)
      else uploads.delete(uploadId)
      response.writeHead(204).end()
    } else if (request.method === 'GET' && url.searchParams.has('uploads')) xml(uploadListing(url.searchParams))
    else if (url.searchParams.get('list-type') === '2') xml(listing(url.searchParams))
    else sendObject(request, response, key)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const { status, code } = error instanceof Refused ? error : new Refused(500, 'InternalError')
      response.writeHead(status, { 'content-type': 'application/xml' })
      response.end(
        request.method === 'HEAD' ? undefined : `<Error><Code>${code}</Code><Message>${code}</Message></Error>`,
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const options = { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...credentials }

  return {
    options,
    objects,
    keys: () => [...objects.keys(), ...[...uploads.values()].map(({ key }) => key)],
    addUnfinished: (key, initiated) => void uploads.set(randomUUID(), { key, parts: new Map(), initiated }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
