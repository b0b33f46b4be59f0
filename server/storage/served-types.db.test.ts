import { afterAll, beforeAll, expect, test } from 'vitest'
import { INERT_CONTENT_POLICY } from '#server/base/content-policy.ts'
import { type StorageClient, startStorageService, type StorageTestService } from '#test/storage-service.ts'

const PAGE = '<form action="/api">password</form>'

let service: StorageTestService
let admin: StorageClient
let files: ReturnType<StorageClient['from']>

beforeAll(async () => {
  service = await startStorageService()
  admin = await service.clientOf('service')
  await admin.createBucket('any', { public: true })
  files = admin.from('any')
})
afterAll(() => service.close())

/** As a request declares it, without the client's own handling of the type. */
async function upload(key: string, type: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${service.url}/object/any/${key}`, {
    method: 'POST',
    headers: { ...(await service.headersOf('service')), 'content-type': type, ...headers },
    body: PAGE,
  })
}

const publicUrl = (key: string) => `${service.url}/object/public/any/${key}`

async function everyAddress(key: string): Promise<string[]> {
  const { data } = await files.createSignedUrl(key, 60)
  return [publicUrl(key), `${service.url}/object/any/${key}`, data?.signedUrl ?? '']
}

async function expectInert(address: string, init: RequestInit = {}): Promise<Headers> {
  const { headers } = await fetch(address, init)
  expect(headers.get('content-security-policy'), address).toBe(INERT_CONTENT_POLICY)
  expect(headers.get('x-content-type-options'), address).toBe('nosniff')
  return headers
}

const RUNNING_TYPES = [
  'text/html',
  'TEXT/HTML; charset=utf-8',
  'application/xhtml+xml',
  'application/xml',
  'text/xml',
  'image/svg+xml',
  'application/rss+xml',
  'text/xsl',
  'application/mathml+xml',
  'multipart/x-mixed-replace; boundary=x',
  'message/rfc822',
  'multipart/related',
  'application/x-mimearchive',
  'text/javascript',
  'application/javascript',
  'application/x-javascript',
  'text/ecmascript',
  'application/wasm',
  'text/css',
  'application/manifest+json',
  'text/cache-manifest',
  'application/x-shockwave-flash',
  'application/x-java-applet',
  'unknown/unknown',
  '*/*',
]
const MALFORMED_TYPES = [
  'application/pdf;, text/html',
  'application/pdf, text/html',
  'application/pdf; text/html',
  'image/png;x="y", text/html; z="w"',
  'text/plain text/html',
  'text/html\tx',
  'text',
]

test('any type that is not listed, or is not one type, is a file of unknown kind to save', async () => {
  for (const [index, type] of [...RUNNING_TYPES, ...MALFORMED_TYPES].entries()) {
    const key = `page-${index}`
    expect((await upload(key, type)).status, type).toBe(200)
    for (const address of await everyAddress(key)) {
      const headers = await expectInert(address)
      expect(headers.get('content-type'), type).toBe('application/octet-stream')
      expect(headers.get('content-disposition'), type).toBe(`attachment; filename="${key}"; filename*=UTF-8''${key}`)
    }
    expect((await files.info(key)).data?.contentType, type).toBe('application/octet-stream')
  }
})

test('a form’s own type is held against the same list', async () => {
  const send = async (key: string, form: FormData) => {
    const { error } = await files.upload(key, form)
    expect(error).toBeNull()
    return (await fetch(publicUrl(key))).headers.get('content-type')
  }
  const part = new FormData()
  part.append('', new Blob([PAGE], { type: 'text/html' }))
  expect(await send('part', part)).toBe('application/octet-stream')
  const field = new FormData()
  field.append('contentType', 'image/png\r\nset-cookie: a=b')
  field.append('', new Blob([PAGE], { type: 'image/png' }))
  expect(await send('field', field)).toBe('application/octet-stream')
})

test('listed types come back as the client declared them, and only harmless ones are shown', async () => {
  const declared = [
    ['image/png', 'image/png', true],
    ['IMAGE/JPEG', 'image/jpeg', true],
    ['text/plain;charset=UTF-8', 'text/plain;charset=UTF-8', true],
    ['text/plain; charset=utf-8', 'text/plain; charset=utf-8', true],
    ['text/plain;charset=utf-7', 'text/plain', true],
    ['audio/webm;codecs=opus', 'audio/webm', true],
    ['video/mp4; codecs="avc1.42E01E, mp4a.40.2"', 'video/mp4', true],
    ['application/pdf', 'application/pdf', false],
    ['application/json', 'application/json', false],
    ['text/csv; charset=windows-1252', 'text/csv; charset=windows-1252', false],
  ] as const
  for (const [index, [type, served, isShown]] of declared.entries()) {
    expect((await upload(`listed-${index}`, type)).status).toBe(200)
    const headers = await expectInert(publicUrl(`listed-${index}`))
    expect(headers.get('content-type'), type).toBe(served)
    expect(headers.get('content-disposition') === null, type).toBe(isShown)
  }
})

test('rows with other types are served like files of unknown kind', async () => {
  await upload('old', 'image/png')
  for (const stored of ['text/html', 'application/pdf;, text/html', 'image/png\r\nset-cookie: a=b', '', 7, null, {}]) {
    const json = JSON.stringify(stored)
    await service.db.admin.query(
      `update storage.objects set metadata = metadata || jsonb_build_object('mimetype', $1::jsonb) where name = 'old'`,
      [json],
    )
    const headers = await expectInert(publicUrl('old'))
    expect(headers.get('content-type'), json).toBe('application/octet-stream')
    expect(headers.get('content-disposition'), json).toContain('attachment')
    expect(headers.get('set-cookie')).toBeNull()
  }
})

test('HEAD, parts and unchanged files have the same headers', async () => {
  await upload('same', 'text/html')
  const { headers } = await fetch(publicUrl('same'))
  await expectInert(publicUrl('same'), { method: 'HEAD' })
  await expectInert(publicUrl('same'), { headers: { range: 'bytes=0-3' } })
  await expectInert(publicUrl('same'), { headers: { 'if-none-match': headers.get('etag') ?? '' } })
  await expectInert(`${publicUrl('same')}?download=page.html&response-content-type=text/html`)
})

test('a copy or a moved object keeps a listed type, and a copy may not declare another', async () => {
  await upload('source', 'image/png')
  const post = async (path: string, body: object) =>
    fetch(`${service.url}/object/${path}`, {
      method: 'POST',
      headers: { ...(await service.headersOf('service')), 'content-type': 'application/json' },
      body: JSON.stringify({ bucketId: 'any', sourceKey: 'source', ...body }),
    })
  const typeAt = async (key: string) => (await expectInert(publicUrl(key))).get('content-type')
  expect((await post('copy', { destinationKey: 'copied' })).status).toBe(200)
  expect(await typeAt('copied')).toBe('image/png')
  const declared = { copyMetadata: false, metadata: { mimetype: 'text/html' } }
  expect((await post('copy', { destinationKey: 'declared', ...declared })).status).toBe(200)
  expect(await typeAt('declared')).toBe('application/octet-stream')
  expect((await post('move', { destinationKey: 'moved' })).status).toBe(200)
  expect(await typeAt('moved')).toBe('image/png')
})

test('a bucket takes the types that it names, whether or not they are listed', async () => {
  await admin.createBucket('pages', { public: true, allowedMimeTypes: ['text/html', 'application/pdf'] })
  const pages = admin.from('pages')
  expect((await pages.upload('a', PAGE, { contentType: 'text/html' })).error).toBeNull()
  expect((await pages.copy('a', 'b')).error).toBeNull()
  expect((await pages.upload('c', PAGE, { contentType: 'application/pdf;, text/html' })).error).toMatchObject({
    statusCode: '415',
    message: 'mime type application/pdf;, text/html is not supported',
  })
})

test('no object is a script, style, worker, manifest or frame of a page', async () => {
  await upload('used', 'text/plain')
  const usedAs = async (destination: string) =>
    (await fetch(publicUrl('used'), { headers: { 'sec-fetch-dest': destination } })).status
  for (const destination of (
    'script style worker sharedworker serviceworker audioworklet paintworklet manifest xslt json ' +
    'frame iframe embed object fencedframe'
  ).split(' '))
    expect(await usedAs(destination), destination).toBe(400)
  for (const destination of ['empty', 'document', 'image', 'audio', 'video', 'font', 'track'])
    expect(await usedAs(destination), destination).toBe(200)
})
