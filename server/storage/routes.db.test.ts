import { randomBytes, randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { AppError } from '#server/base/errors.ts'
import type { Claims } from '#server/database/scope.ts'
import { bytesAreIn, startStorageService, type StorageClient, type StorageTestService } from '#test/storage-service.ts'
import { createSignedTokens } from './signed-tokens.ts'
import type { DocumentFile } from './store-object.ts'

type Person = Claims & { sub: string }

const signingKey = randomBytes(32)
/** Whose right may end a response, in the order of the requests. */
const watched: string[] = []
const documents: (Omit<DocumentFile, 'open'> & { content: string })[] = []
let service: StorageTestService
let owner: Person
let stranger: Person
let client: StorageClient
let admin: StorageClient
let files: ReturnType<StorageClient['from']>

const own = (name: string) => `${owner.sub}/${name}`
const plain = { contentType: 'text/plain' }

beforeAll(async () => {
  service = await startStorageService({
    signingKey,
    accessWatch: {
      watch(person) {
        watched.push(person)
        return () => undefined
      },
    },
    async onDocumentUpload({ open, ...file }) {
      const content = await text(await open())
      if (content === 'unreadable') throw new AppError('unsupported_type', 'That is no document.')
      documents.push({ ...file, content })
    },
  })
  owner = await service.db.createPerson()
  stranger = await service.db.createPerson()
  client = await service.clientOf(owner)
  admin = await service.clientOf('service')
  files = client.from('documents')
})
afterAll(() => service.close())

async function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(`${service.url}${path}`, { method, headers: { ...(await service.headersOf(owner)), ...headers } })
}

describe('download', () => {
  const path = () => `/object/documents/${own('served.txt')}`
  beforeAll(async () => {
    await files.upload(own('served.txt'), '0123456789', { ...plain, cacheControl: '120' })
  })

  test('sends the type, length, tag and cache lifetime of the bytes', async () => {
    const answer = await get(path())
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '10',
      'cache-control': 'max-age=120',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
    })
    expect(answer.headers.get('access-control-expose-headers')).toContain('Content-Range')
    expect(Date.parse(answer.headers.get('last-modified') ?? '')).toBeGreaterThan(Date.now() - 60_000)
    expect(await answer.text()).toBe('0123456789')
    const head = await get(path(), {}, 'HEAD')
    expect(head.headers.get('content-length')).toBe('10')
    expect(head.headers.get('etag')).toBe(answer.headers.get('etag'))
    expect(await head.text()).toBe('')
    expect((await get(path().replace('object/', 'object/authenticated/'))).status).toBe(200)
  })

  test.each([
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=5-500', '56789', 'bytes 5-9/10'],
  ])('serves the range %s', async (range, content, contentRange) => {
    const answer = await get(path(), { range })
    expect(answer.status).toBe(206)
    expect(answer.headers.get('content-range')).toBe(contentRange)
    expect(answer.headers.get('content-length')).toBe(String(content.length))
    expect(await answer.text()).toBe(content)
  })

  test('rejects a range outside the object, and ignores a malformed one', async () => {
    const outside = await get(path(), { range: 'bytes=10-' })
    expect(outside.status).toBe(416)
    expect(outside.headers.get('content-range')).toBe('bytes */10')
    for (const range of ['bytes=4-2', 'bytes=1-2,4-5', 'lines=1-2', 'bytes=-']) {
      expect(await (await get(path(), { range })).text(), range).toBe('0123456789')
    }
    const stale = await get(path(), { range: 'bytes=1-2', 'if-range': '"another"' })
    expect(stale.status).toBe(200)
  })

  test('sends no body for a matching tag', async () => {
    const first = await get(path())
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^".+"$/)
    const unchanged = await get(path(), { 'if-none-match': `"x", W/${etag}` })
    expect(unchanged.status).toBe(304)
    expect(await unchanged.text()).toBe('')
    const modified = first.headers.get('last-modified') ?? ''
    expect((await get(path(), { 'if-modified-since': modified })).status).toBe(304)
    await files.update(own('served.txt'), '0123456789', plain)
    expect((await get(path(), { 'if-none-match': etag })).status).toBe(200)
  })

  test('downloads under a name, and always types that a browser would run', async () => {
    expect((await get(`${path()}?download=`)).headers.get('content-disposition')).toBe('attachment')
    const named = await get(`${path()}?download=${encodeURIComponent('r\r\né"sumé.txt')}`)
    expect(named.headers.get('content-disposition')).toBe(
      `attachment; filename="r____sum_.txt"; filename*=UTF-8''r%0D%0A%C3%A9%22sum%C3%A9.txt`,
    )
    expect((await get(path())).headers.get('content-disposition')).toBeNull()
    await admin.createBucket('active', { public: true })
    const types = ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/xml', 'TEXT/HTML; charset=utf-8']
    for (const [index, contentType] of types.entries()) {
      await admin.from('active').upload(`page ${index}`, '<script>alert(1)</script>', { contentType })
      const answer = await fetch(admin.from('active').getPublicUrl(`page ${index}`).data.publicUrl)
      expect(answer.headers.get('content-disposition'), contentType).toContain('attachment; filename="page ')
      expect(answer.headers.get('content-security-policy')).toContain('sandbox')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  test('streams through the client', async () => {
    const { data } = await files.download(own('served.txt')).asStream()
    expect(await new Response(data).text()).toBe('0123456789')
  })

  test('headers of an upload cannot break the response', async () => {
    const form = new FormData()
    form.append('cacheControl', '1\r\nset-cookie: a=b')
    form.append('', new Blob(['x'], { type: 'text/plain' }))
    expect((await files.upload(own('header.txt'), form)).error).toBeNull()
    const answer = await get(`/object/documents/${own('header.txt')}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('set-cookie')).toBeNull()
  })
})

describe('public buckets', () => {
  test('are readable by everyone and writable under the policies', async () => {
    await admin.createBucket('open', { public: true })
    await admin.from('open').upload('a/b.txt', 'for all', plain)
    const nobody = (await service.clientOf()).from('open')
    const { publicUrl } = nobody.getPublicUrl('a/b.txt', { download: 'c.txt' }).data
    const answer = await fetch(publicUrl)
    expect(await answer.text()).toBe('for all')
    expect(answer.headers.get('content-disposition')).toContain('c.txt')
    expect(await (await nobody.download('a/b.txt')).data?.text()).toBe('for all')
    expect((await fetch(`${service.url}/object/info/public/open/a/b.txt`)).status).toBe(200)
    expect((await nobody.upload('x.txt', 'x', plain)).error).toMatchObject({ statusCode: '403' })
    expect((await nobody.list('a')).data).toEqual([])
    const closed = await fetch((await service.clientOf()).from('documents').getPublicUrl('a').data.publicUrl)
    expect(await closed.json()).toMatchObject({ statusCode: '404', message: 'Bucket not found' })
  })
})

describe('signed URLs', () => {
  test('let anyone read one object until they expire', async () => {
    await files.upload(own('signed one.txt'), 'signed', plain)
    const { data } = await files.createSignedUrl(own('signed one.txt'), 60, { download: 'x.txt' })
    const answer = await fetch(data?.signedUrl ?? '')
    expect(await answer.text()).toBe('signed')
    expect(answer.headers.get('content-disposition')).toContain('filename="x.txt"')
    expect((await fetch(data?.signedUrl ?? '', { method: 'HEAD' })).status).toBe(200)
    expect((await files.createSignedUrl(own('none.txt'), 60)).error).toMatchObject({ statusCode: '404' })
    expect((await files.createSignedUrl(own('signed one.txt'), 0)).error).toMatchObject({ statusCode: '400' })

    const many = await files.createSignedUrls([own('signed one.txt'), own('none.txt')], 60)
    expect(await (await fetch(many.data?.[0]?.signedUrl ?? '')).text()).toBe('signed')
    expect(many.data?.[1]).toMatchObject({
      path: own('none.txt'),
      signedURL: null,
      error: 'Either the object does not exist or you do not have access to it',
    })
  })

  test('let anyone write one object, once', async () => {
    const { data } = await files.createSignedUploadUrl(own('invited.txt'))
    const nobody = (await service.clientOf()).from('documents')
    const upload = (token: string, content: string) =>
      nobody.uploadToSignedUrl(own('invited.txt'), token, content, plain)
    expect((await upload(data?.token ?? '', 'first')).error).toBeNull()
    expect((await upload(data?.token ?? '', 'second')).error).toMatchObject({
      message: 'The resource already exists',
      statusCode: '409',
    })
    const { rows } = await service.db.admin.query('select owner, owner_id from storage.objects where name = $1', [
      own('invited.txt'),
    ])
    expect(rows).toEqual([{ owner: owner.sub, owner_id: owner.sub }])
    expect((await files.createSignedUploadUrl(own('invited.txt'))).error).toMatchObject({ statusCode: '409' })

    const upsert = await files.createSignedUploadUrl(own('invited.txt'), { upsert: true })
    for (const content of ['third', 'fourth'])
      expect((await upload(upsert.data?.token ?? '', content)).error).toBeNull()
    expect(await (await files.download(own('invited.txt'))).data?.text()).toBe('fourth')
    const wrongType = await nobody.uploadToSignedUrl(own('invited.txt'), upsert.data?.token ?? '', '<b>', {
      contentType: 'text/html',
    })
    expect(wrongType.error).toMatchObject({ statusCode: '415' })
  })

  test('end with the account that signed them, and are valid again with it', async () => {
    const signer = await service.db.createPerson()
    const key = `${signer.sub}/signed.txt`
    const own = (await service.clientOf(signer)).from('documents')
    await own.upload(key, 'signed', plain)
    const [download, upload] = [await own.createSignedUrl(key, 60), await own.createSignedUploadUrl(`${key}2`)]
    const byService = await admin.from('documents').createSignedUrl(key, 60)
    const earlier = await createSignedTokens(signingKey).signDownload(
      { bucket: 'documents', key },
      { signer: undefined, expiresInS: 60 },
    )
    const readStatuses = () =>
      Promise.all(
        [
          download.data?.signedUrl ?? '',
          `${service.url}/object/sign/documents/${key}?token=${earlier}`,
          byService.data?.signedUrl ?? '',
        ].map(async (url) => (await fetch(url)).status),
      )
    const write = async () => (await fetch(upload.data?.signedUrl ?? '', { method: 'PUT', body: 'a text' })).status
    const setBan = (until: string | null) =>
      service.db.admin.query('update auth.users set banned_until = $2 where id = $1', [signer.sub, until])

    expect(await readStatuses()).toEqual([200, 200, 200])
    await setBan('2500-01-01')
    const before = watched.length
    expect(await readStatuses()).toEqual([400, 400, 200])
    // The watch begins before the account is asked for: it may be disabled in between.
    expect(watched.slice(before)).toEqual([signer.sub, signer.sub])
    expect(await write()).toBe(400)
    await setBan(null)
    expect(await readStatuses()).toEqual([200, 200, 200])
    expect(await write()).toBe(200)
    await service.db.admin.query('update auth.users set deleted_at = now() where id = $1', [signer.sub])
    expect(await readStatuses()).toEqual([400, 400, 200])
  })

  test('of an earlier version open when the owner of the object has no account here', async () => {
    const elsewhere = randomUUID()
    await files.upload(own('elsewhere.txt'), 'of another issuer', plain)
    await service.db.admin.query(`update storage.objects set owner = $2, owner_id = $3 where name = $1`, [
      own('elsewhere.txt'),
      elsewhere,
      elsewhere,
    ])
    const signed = createSignedTokens(signingKey)
    const target = { bucket: 'documents', key: own('elsewhere.txt') }
    const download = await signed.signDownload(target, { signer: undefined, expiresInS: 60 })
    const upload = await signed.signUpload(target, { upsert: true, owner: elsewhere }, 60)
    const read = `${service.url}/object/sign/documents/${target.key}?token=${download}`
    expect(await (await fetch(read)).text()).toBe('of another issuer')
    const write = `${service.url}/object/upload/sign/documents/${target.key}?token=${upload}`
    expect((await fetch(write, { method: 'PUT', body: 'replaced' })).status).toBe(200)
  })

  test('allow nothing else', async () => {
    await files.upload(own('target.txt'), 'target', plain)
    await files.upload(own('other.txt'), 'other', plain)
    const target = { bucket: 'documents', key: own('target.txt') }
    const signed = createSignedTokens(signingKey)
    const foreign = createSignedTokens(randomBytes(32))
    const download = await signed.signDownload(target, { signer: owner.sub, expiresInS: 60 })
    const upload = await signed.signUpload(target, { upsert: true, owner: owner.sub }, 60)
    const read = (key: string, token: string) => fetch(`${service.url}/object/sign/documents/${key}?token=${token}`)
    const write = (key: string, token: string) =>
      fetch(`${service.url}/object/upload/sign/documents/${key}?token=${token}`, { method: 'PUT', body: 'forged' })

    expect((await read(target.key, download)).status).toBe(200)
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${download.split('.')[1] ?? ''}.`
    const refused = [
      await read(target.key, upload),
      await write(target.key, download),
      await read(own('other.txt'), download),
      await write(own('other.txt'), upload),
      await read(target.key, await signed.signDownload(target, { signer: owner.sub, expiresInS: -1 })),
      await write(target.key, await signed.signUpload(target, { upsert: true }, -1)),
      await read(target.key, await foreign.signDownload(target, { signer: owner.sub, expiresInS: 60 })),
      await read(target.key, service.tokens.serviceRoleKey),
      await write(target.key, service.tokens.serviceRoleKey),
      await read(target.key, unsigned),
      await read(target.key, ''),
      await fetch(`${service.url}/object/sign/documents/${target.key}`),
    ]
    for (const answer of refused) {
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ statusCode: '400' })
    }
    for (const token of [download, upload]) {
      const asSession = await fetch(`${service.url}/object/list/documents`, {
        method: 'POST',
        body: '{}',
        headers: { authorization: `Bearer ${token}` },
      })
      expect(await asSession.json()).toMatchObject({ statusCode: '403', error: 'Unauthorized' })
      await expect(jwtVerify(token, signingKey)).rejects.toThrow('signature')
    }
    expect(await (await files.download(target.key)).data?.text()).toBe('target')
  })
})

describe('buckets', () => {
  test('are created, read, changed, emptied and removed with the service key', async () => {
    const id = `bucket-${randomUUID()}`
    expect(await admin.createBucket(id, { public: false, fileSizeLimit: '1kb' })).toEqual({
      data: { name: id },
      error: null,
    })
    expect((await admin.createBucket(id, { public: false })).error).toMatchObject({
      statusCode: '409',
      message: 'The resource already exists',
    })
    expect((await admin.getBucket(id)).data).toMatchObject({
      id,
      name: id,
      public: false,
      type: 'STANDARD',
      file_size_limit: 1000,
      allowed_mime_types: null,
    })
    expect((await admin.listBuckets({ search: id })).data?.map((bucket) => bucket.id)).toEqual([id])
    const all = await admin.listBuckets({ sortColumn: 'name', sortOrder: 'desc', limit: 1, offset: 0 })
    expect(all.data).toHaveLength(1)

    const bucket = admin.from(id)
    expect((await bucket.upload('large.bin', Buffer.alloc(1001))).error).toMatchObject({ statusCode: '413' })
    const change = { public: true, fileSizeLimit: null, allowedMimeTypes: ['image/*'] }
    expect((await admin.updateBucket(id, change)).data).toEqual({ message: 'Successfully updated' })
    expect((await admin.getBucket(id)).data).toMatchObject({
      public: true,
      file_size_limit: null,
      allowed_mime_types: ['image/*'],
    })
    expect((await bucket.upload('a/1.png', 'x', { contentType: 'image/png' })).error).toBeNull()
    expect((await bucket.upload('a/1.txt', 'x', plain)).error).toMatchObject({ statusCode: '415' })
    expect((await admin.deleteBucket(id)).error).toMatchObject({
      statusCode: '409',
      message: 'The bucket you tried to delete is not empty',
    })
    expect((await admin.emptyBucket(id)).error).toBeNull()
    expect((await bucket.list('a')).data).toEqual([])
    expect((await admin.deleteBucket(id)).data).toEqual({ message: 'Successfully deleted' })
    expect((await admin.getBucket(id)).error).toMatchObject({ statusCode: '404', message: 'Bucket not found' })
    expect((await admin.deleteBucket(id)).error).toMatchObject({ statusCode: '404' })
    expect((await admin.emptyBucket(id)).error).toMatchObject({ statusCode: '404' })
  })

  test('are hidden from and read-only for people unless a policy allows it', async () => {
    for (const who of [client, await service.clientOf()]) {
      expect((await who.listBuckets()).data).toEqual([])
      expect((await who.getBucket('documents')).error).toMatchObject({ statusCode: '404' })
      expect((await who.createBucket('mine', { public: true })).error).toMatchObject({ statusCode: '403' })
      expect((await who.updateBucket('documents', { public: true })).error).toMatchObject({ statusCode: '404' })
      expect((await who.emptyBucket('documents')).error).toMatchObject({ statusCode: '404' })
      expect((await who.deleteBucket('documents')).error).toMatchObject({ statusCode: '404' })
    }
    await service.db.admin.query('create policy "all see" on storage.buckets for select to authenticated using (true)')
    onTestFinished(async () => {
      await service.db.admin.query('drop policy "all see" on storage.buckets')
    })
    expect((await client.getBucket('documents')).data).toMatchObject({ file_size_limit: 26_214_400 })
    const stored = await files.upload(own('kept.txt'), 'kept', plain)
    expect(stored.error).toBeNull()
    // Emptying a visible bucket removes only what the caller may remove.
    expect((await (await service.clientOf(stranger)).emptyBucket('documents')).error).toBeNull()
    expect(await (await files.download(own('kept.txt'))).data?.text()).toBe('kept')
  })

  test('reject invalid names and limits', async () => {
    for (const name of ['a/b', ' a', '', '..', 'x'.repeat(101), 'é'])
      expect((await admin.createBucket(name, { public: false })).error, name).toMatchObject({ statusCode: '400' })
    const create = (options: object) => admin.createBucket('odd', { public: false, ...options })
    expect((await create({ fileSizeLimit: 'much' })).error).toMatchObject({ statusCode: '400' })
    expect((await create({ fileSizeLimit: '20TB' })).error).toMatchObject({ statusCode: '400' })
    expect((await create({ fileSizeLimit: '20GB' })).error).toMatchObject({ statusCode: '413' })
    expect((await create({ allowedMimeTypes: ['image'] })).error).toMatchObject({ statusCode: '415' })
  })
})

describe('policies written for Supabase', () => {
  test('decide over objects by their owner, folder and extension', async () => {
    await admin.createBucket('avatars', { public: false })
    await service.db.admin.query(`
      create policy "anyone signed in adds" on storage.objects for insert to authenticated
        with check (bucket_id = 'avatars' and storage.extension(name) = 'png' and lower((storage.foldername(name))[1]) = 'all');
      create policy "all read" on storage.objects for select to authenticated using (bucket_id = 'avatars');
      create policy "own are changed" on storage.objects for update to authenticated
        using (bucket_id = 'avatars' and owner_id = auth.uid()::text)`)
    const mine = client.from('avatars')
    const theirs = (await service.clientOf(stranger)).from('avatars')
    const png = { contentType: 'image/png' }
    expect((await mine.upload('all/a.png', 'mine', png)).error).toBeNull()
    expect((await mine.upload('all/a.gif', 'x', png)).error).toMatchObject({ statusCode: '403' })
    expect((await mine.upload('some/a.png', 'x', png)).error).toMatchObject({ statusCode: '403' })
    expect(await (await theirs.download('all/a.png')).data?.text()).toBe('mine')
    expect((await theirs.update('all/a.png', 'theirs', png)).error).toMatchObject({ statusCode: '403' })
    expect((await theirs.remove(['all/a.png'])).data).toEqual([])
    expect((await mine.move('all/a.png', 'all/b.png')).error).toBeNull()
    expect((await theirs.move('all/b.png', 'all/c.png')).error).toMatchObject({ statusCode: '403' })
    const single = await fetch(`${service.url}/object/avatars/all/b.png`, {
      method: 'DELETE',
      headers: await service.headersOf(stranger),
    })
    expect(await single.json()).toMatchObject({ statusCode: '403' })
    expect((await mine.update('all/b.png', 'again', png)).error).toBeNull()
  })

  // A multipart store shows nothing of an upload before its first part is full, so the test cannot wait for it.
  test.skipIf(bytesAreIn('S3'))(
    'the right to make an object does not overwrite one that was made meanwhile',
    async () => {
      const overwriting = { contentType: 'image/png', upsert: true }
      let finish = (): void => undefined
      const body = new ReadableStream<Uint8Array>({
        start(sink) {
          sink.enqueue(Buffer.from('half'))
          finish = () => sink.close()
        },
      })
      const slow = (await service.clientOf(stranger)).from('avatars').upload('all/raced.png', body, overwriting)
      // Once the file exists, the stranger's access was checked and bytes are arriving.
      await expect.poll(async () => (await service.files()).some((name) => name.endsWith('.unfinished'))).toBe(true)
      expect((await client.from('avatars').upload('all/raced.png', 'first', overwriting)).error).toBeNull()
      finish()
      expect((await slow).error).toMatchObject({ statusCode: '403' })
      expect(await (await client.from('avatars').download('all/raced.png')).data?.text()).toBe('first')
      expect((await service.files()).filter((name) => name.endsWith('.unfinished'))).toEqual([])
    },
  )
})

describe('documents', () => {
  test('a file below a person’s folder is passed on with its bytes', async () => {
    documents.length = 0
    expect((await files.upload(own('reports/May.txt'), 'a report', plain)).error).toBeNull()
    expect((await admin.from('documents').upload(own('Gift.txt'), 'a gift', plain)).error).toBeNull()
    expect((await admin.from('documents').upload('loose.txt', 'x', plain)).error).toBeNull()
    expect((await admin.from('documents').upload('folder/of-nobody.txt', 'x', plain)).error).toBeNull()
    expect(documents).toEqual([
      {
        owner: owner.sub,
        name: 'May.txt',
        key: own('reports/May.txt'),
        mimetype: 'text/plain',
        size: 8,
        content: 'a report',
      },
      { owner: owner.sub, name: 'Gift.txt', key: own('Gift.txt'), mimetype: 'text/plain', size: 6, content: 'a gift' },
    ])
  })

  test('a file that cannot become a document is rejected and leaves nothing', async () => {
    const before = await service.files()
    const { error } = await files.upload(own('bad.txt'), 'unreadable', plain)
    expect(error).toMatchObject({ statusCode: '415', message: 'That is no document.' })
    expect((await files.exists(own('bad.txt'))).data).toBe(false)
    expect(await service.files()).toEqual(before)
  })
})

describe('the HTTP interface', () => {
  test('answers a browser of any origin', async () => {
    const asked = 'authorization,apikey,content-type,x-client-info,x-upsert,cache-control,x-metadata,range'
    const answer = await fetch(`${service.url}/object/documents/x`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://elsewhere.test',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': asked,
      },
    })
    expect(answer.ok).toBe(true)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-headers')).toBe(asked)
    expect(answer.headers.get('access-control-allow-methods')).toContain('PUT')
    const refused = await fetch(`${service.url}/bucket`)
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(await refused.json()).toMatchObject({ statusCode: '403' })
  })

  test('reports its health', async () => {
    expect((await fetch(`${service.url}/status`)).status).toBe(200)
    expect(await (await fetch(`${service.url}/health`)).json()).toEqual({ healthy: true })
    expect((await fetch(`${service.url}/nothing/here`)).status).toBe(404)
  })

  test('a malformed body is rejected with a message', async () => {
    const deep = `{"prefix": "", "deep": ${'['.repeat(600)}${']'.repeat(600)}}`
    for (const body of ['{', '[]', deep, '{"prefix": 1}', `{"prefix": "${'x'.repeat(1_100_000)}"}`]) {
      const answer = await fetch(`${service.url}/object/list/documents`, {
        method: 'POST',
        body,
        headers: { ...(await service.headersOf(owner)), 'content-type': 'application/json' },
      })
      expect(answer.status).toBe(400)
    }
    const form = await fetch(`${service.url}/object/documents/${own('form.txt')}`, {
      method: 'POST',
      body: 'no form',
      headers: { ...(await service.headersOf(owner)), 'content-type': 'multipart/form-data; boundary=x' },
    })
    expect(await form.json()).toMatchObject({ statusCode: '400', code: 'InvalidRequest' })
    const image = await files.download(own('served.txt'), { transform: { width: 10 } })
    expect(image.error).toMatchObject({ statusCode: '409' })
    const link = await files.createSignedUrl(own('served.txt'), 60, { transform: { width: 10 } })
    expect(link.error).toMatchObject({ statusCode: '409', message: 'Image transformation is not enabled' })
  })
})
