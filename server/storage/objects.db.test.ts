import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { IncomingMessage, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openCollector } from '#server/base/garbage-collector.ts'
import { createLog } from '#server/base/log.ts'
import { isConnectionFailure } from '#server/database/errors.ts'
import { openDatabase } from '#server/database/open-database.ts'
import type { Claims, Database } from '#server/database/scope.ts'
import { loseCommitOf } from '#test/lost-commit.ts'
import { bytesAreIn, startStorageService, type StorageClient, type StorageTestService } from '#test/storage-service.ts'
import { storeObject } from './store-object.ts'

type Person = Claims & { sub: string }
type Files = ReturnType<StorageClient['from']>

let service: StorageTestService
let owner: Person
let stranger: Person
let files: Files
let strangersFiles: Files
let nobodysFiles: Files

const as = async (who: Claims | 'service' | undefined, bucket = 'documents') =>
  (await service.clientOf(who)).from(bucket)
const own = (name: string) => `${owner.sub}/${name}`
const put = async (name: string, content: string | Buffer = 'hello world', contentType = 'text/plain') => {
  const { error } = await files.upload(own(name), content, { contentType })
  expect(error).toBeNull()
  return own(name)
}
const textOf = async (from: Files, key: string) => (await from.download(key)).data?.text()
interface Row {
  readonly id: string
  readonly version: string
  readonly blob_id: string
}
const rowsAt = async (key: string) =>
  (await service.db.admin.query<Row>('select * from storage.objects where name = $1', [key])).rows
async function rowAt(key: string): Promise<Row> {
  const [row] = await rowsAt(key)
  if (!row) throw new Error(`nothing is at ${key}`)
  return row
}

beforeAll(async () => {
  service = await startStorageService()
  owner = await service.db.createPerson()
  stranger = await service.db.createPerson()
  files = await as(owner)
  strangersFiles = await as(stranger)
  nobodysFiles = await as(undefined)
})
afterAll(() => service.close())

describe('upload', () => {
  test('takes a raw body and returns it', async () => {
    const bytes = randomBytes(300_000)
    const key = own('raw/photo one.png')
    const { data, error } = await files.upload(key, bytes, { contentType: 'image/png', cacheControl: '60' })
    expect(error).toBeNull()
    expect(data).toMatchObject({ path: key, fullPath: `documents/${key}` })
    expect(data?.id).toBe((await rowAt(key)).id)
    const downloaded = await files.download(key)
    expect(downloaded.data?.type).toBe('image/png')
    expect(Buffer.from((await downloaded.data?.arrayBuffer()) ?? new ArrayBuffer()).equals(bytes)).toBe(true)
    const row = await rowAt(key)
    expect(row).toMatchObject({
      owner: owner.sub,
      owner_id: owner.sub,
      path_tokens: [owner.sub, 'raw', 'photo one.png'],
      metadata: { size: 300_000, mimetype: 'image/png', cacheControl: 'max-age=60' },
    })
  })

  test('takes a form, a stream and user metadata', async () => {
    const blob = new Blob(['from a form'], { type: 'text/plain' })
    expect((await files.upload(own('form.txt'), blob, { metadata: { a: 'ä' } })).error).toBeNull()
    const form = new FormData()
    form.append('anything', new File(['own form'], 'x.txt', { type: 'text/plain' }))
    expect((await files.upload(own('own-form.txt'), form)).error).toBeNull()
    const stream = Readable.from(['streamed ', 'text'])
    const options = { contentType: 'text/plain', metadata: { b: [1, { c: null }] } }
    expect((await files.upload(own('stream.txt'), stream, options)).error).toBeNull()

    expect(await textOf(files, own('form.txt'))).toBe('from a form')
    expect(await textOf(files, own('own-form.txt'))).toBe('own form')
    expect(await textOf(files, own('stream.txt'))).toBe('streamed text')
    expect((await files.info(own('form.txt'))).data).toMatchObject({
      metadata: { a: 'ä' },
      cacheControl: 'max-age=3600',
      contentType: 'text/plain',
      size: 11,
    })
    expect((await files.info(own('stream.txt'))).data?.metadata).toEqual({ b: [1, { c: null }] })
    expect((await files.info(own('own-form.txt'))).data?.metadata).toEqual({})
  })

  test('overwrites only with upsert, and discards the replaced bytes', async () => {
    const before = (await service.files()).length
    const key = await put('once.txt', 'first')
    const first = await rowAt(key)
    const again = await files.upload(key, 'second', { contentType: 'text/plain' })
    expect(again.error).toMatchObject({ message: 'The resource already exists', statusCode: '409', status: 400 })
    expect(await textOf(files, key)).toBe('first')

    expect((await files.upload(key, 'third', { contentType: 'text/plain', upsert: true })).error).toBeNull()
    expect(await textOf(files, key)).toBe('third')
    expect((await files.update(key, 'fourth', { contentType: 'text/plain' })).error).toBeNull()
    expect(await textOf(files, key)).toBe('fourth')
    const last = await rowAt(key)
    expect(last.id).toBe(first.id)
    expect(last.version).not.toBe(first.version)
    expect(await service.files()).toHaveLength(before + 1)
  })

  test('concurrent uploads to one key leave one object and only its bytes', async () => {
    const before = (await service.files()).length
    const key = own('race.txt')
    const attempts = Array.from({ length: 8 }, (_, index) =>
      files.upload(key, `version ${index}`, { contentType: 'text/plain', upsert: index % 2 === 0 }),
    )
    const outcomes = await Promise.all(attempts)
    expect(outcomes.filter(({ error }) => error === null).length).toBeGreaterThan(0)
    for (const { error } of outcomes) if (error) expect(error).toMatchObject({ statusCode: '409' })
    expect(await rowsAt(key)).toHaveLength(1)
    expect(await service.files()).toHaveLength(before + 1)
    expect(await textOf(files, key)).toMatch(/^version \d$/)
  })

  test('rejects disallowed types, invalid keys and unknown buckets', async () => {
    const before = (await service.files()).length
    const html = await files.upload(own('x.html'), '<b>', { contentType: 'text/html' })
    expect(html.error).toMatchObject({ message: 'mime type text/html is not supported', statusCode: '415' })
    const strange = await files.upload(own('ключ.txt'), 'x', { contentType: 'text/plain' })
    expect(strange.error).toMatchObject({ statusCode: '400', message: `Invalid key: ${own('ключ.txt')}` })
    const elsewhere = await (await as(owner, 'nowhere')).upload('a.txt', 'x')
    expect(elsewhere.error).toMatchObject({ message: 'Bucket not found', statusCode: '404' })
    expect(await service.files()).toHaveLength(before)
  })
})

describe('a failed upload leaves nothing', () => {
  const stream = (chunks: number) =>
    Readable.from(
      (function* () {
        for (let index = 0; index < chunks; index += 1) yield Buffer.alloc(1_048_576, index)
      })(),
    )

  test('counts the bytes as they arrive, whatever was declared', async () => {
    const before = await service.files()
    const exact = await files.upload(own('exact.png'), stream(25), { contentType: 'image/png' })
    expect(exact.error).toBeNull()
    expect((await files.remove([own('exact.png')])).error).toBeNull()

    const tooLarge = { message: 'The object exceeded the maximum allowed size', statusCode: '413', status: 400 }
    const streamed = await files.upload(own('large.png'), stream(27), { contentType: 'image/png' })
    expect(streamed.error).toMatchObject(tooLarge)
    const declared = await files.upload(own('large.png'), Buffer.alloc(26_214_401), { contentType: 'image/png' })
    expect(declared.error).toMatchObject(tooLarge)
    const form = await files.upload(own('large.png'), new Blob([Buffer.alloc(26_214_401)], { type: 'image/png' }))
    expect(form.error).toMatchObject(tooLarge)
    expect(await rowsAt(own('large.png'))).toEqual([])
    expect(await service.files()).toEqual(before)
  })

  // The test's S3 store runs in this process and holds the bytes.
  test.skipIf(bytesAreIn('S3'))('does not hold an upload in memory', async () => {
    const collectGarbage = openCollector()
    const held = () => {
      collectGarbage()
      return process.memoryUsage().arrayBuffers
    }
    let start = 0
    let most = 0
    const body = Readable.from(
      (async function* () {
        for (let index = 0; index < 24; index += 1) {
          yield randomBytes(1_048_576)
          if (index === 3) start = held()
          else if (index > 3) most = Math.max(most, held() - start)
        }
      })(),
    )
    // `fetch` would hold the body in memory.
    const headers = { ...(await service.headersOf(owner)), 'content-type': 'image/png' }
    const request = httpRequest(`${service.url}/object/documents/${own('slow.png')}`, { method: 'POST', headers })
    const answered = once(request, 'response')
    await pipeline(body, request)
    const [answer] = z.tuple([z.instanceof(IncomingMessage)]).parse(await answered)
    expect(await json(answer)).toMatchObject({ Key: `documents/${own('slow.png')}` })
    expect(most).toBeLessThan(8 * 1_048_576)
    await files.remove([own('slow.png')])
  })

  // A multipart store shows nothing of an upload before its first part is full, so the test cannot wait for it.
  test.skipIf(bytesAreIn('S3'))('after a broken connection', async () => {
    const before = await service.files()
    const controller = new AbortController()
    const body = new ReadableStream<Uint8Array>({ start: (sink) => sink.enqueue(Buffer.alloc(65_536)) })
    const sent = fetch(`${service.url}/object/documents/${own('cut.png')}`, {
      method: 'POST',
      body,
      duplex: 'half',
      signal: controller.signal,
      headers: { ...(await service.headersOf(owner)), 'content-type': 'image/png' },
    })
    const refusal = expect(sent).rejects.toThrow('abort')
    await expect.poll(() => service.files()).toHaveLength(before.length + 1)
    controller.abort()
    await refusal
    await expect.poll(() => service.files()).toEqual(before)
    expect(await rowsAt(own('cut.png'))).toEqual([])
  })

  test('after a failed write of the row', async () => {
    const before = await service.files()
    await service.db.admin.query(`
      create function refuse_bytes() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger refuse before insert on storage.objects for each row when (new.blob_id is not null) execute function refuse_bytes()`)
    const { error } = await files.upload(own('refused.txt'), 'x', { contentType: 'text/plain' })
    expect(error).not.toBeNull()
    await service.db.admin.query('drop trigger refuse on storage.objects; drop function refuse_bytes()')
    expect(await rowsAt(own('refused.txt'))).toEqual([])
    expect(await service.files()).toEqual(before)
  })
})

describe('when the connection to the database breaks', () => {
  const storeLost = (database: Database) =>
    storeObject(
      { database, blobs: service.blobs, log: createLog('silent') },
      {
        draft: {
          target: { bucket: 'documents', key: own('lost.txt') },
          owner: owner.sub,
          metadata: {},
          userMetadata: {},
        },
        upsert: false,
        requireWriteAccess: () => Promise.resolve(),
        putBytes: () => service.blobs.put(Readable.from(['x'])),
      },
    )

  test('while PostgreSQL commits the row, the bytes stay', async () => {
    const { database, finishCommit } = await loseCommitOf(service.db, 'storage.objects')
    await expect(storeLost(database)).rejects.toSatisfy(isConnectionFailure)
    await finishCommit()
    expect(await textOf(files, own('lost.txt'))).toBe('x')
  })

  test('before anything was sent, the bytes are removed', async () => {
    const before = await service.files()
    const folder = await mkdtemp(path.join(tmpdir(), 'alcove-nowhere-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const { database, close } = openDatabase({ ...service.db.connection, host: folder }, createLog('silent'))
    onTestFinished(close)
    await expect(storeLost(database)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await service.files()).toEqual(before)
  })
})

describe('a rejected upload', () => {
  test.each(['raw', 'form'])(
    'is answered although its %s body is still on its way, on a connection that goes on',
    async (kind) => {
      const bytes = Buffer.alloc(20_000_000)
      const body = kind === 'raw' ? bytes : new Blob([bytes], { type: 'image/png' })
      for (let round = 0; round < 3; round += 1) {
        const refused = await strangersFiles.upload(own('big.png'), body, { contentType: 'image/png' })
        expect(refused.error).toMatchObject({ statusCode: '403' })
        expect((await strangersFiles.list()).error).toBeNull()
      }
    },
  )
})

describe('another user and an anonymous caller', () => {
  test('are rejected everywhere', async () => {
    const key = await put('secret/plan.txt', 'secret')
    const { data: signed } = await files.createSignedUrl(key, 60)
    expect(signed).not.toBeNull()
    const before = await service.files()
    for (const other of [strangersFiles, nobodysFiles]) {
      const missing = { message: 'Object not found', statusCode: '404' }
      const refused = { message: 'new row violates row-level security policy', statusCode: '403', status: 400 }
      expect((await other.download(key)).error).toMatchObject(missing)
      expect((await other.info(key)).error).toMatchObject(missing)
      expect((await other.exists(key)).data).toBe(false)
      expect((await other.list(owner.sub)).data).toEqual([])
      expect((await other.list()).data).toEqual([])
      expect((await other.createSignedUrl(key, 60)).error).toMatchObject(missing)
      expect((await other.createSignedUrls([key], 60)).data).toMatchObject([{ path: key, signedURL: null }])
      expect((await other.createSignedUploadUrl(own('new.txt'))).error).toMatchObject(refused)
      expect((await other.createSignedUploadUrl(key, { upsert: true })).error).toMatchObject(refused)
      expect((await other.upload(own('new.txt'), 'x', { contentType: 'text/plain' })).error).toMatchObject(refused)
      const overwriting = { contentType: 'text/plain', upsert: true }
      expect((await other.upload(key, 'overwritten', overwriting)).error).toMatchObject(refused)
      expect((await other.update(key, 'overwritten', { contentType: 'text/plain' })).error).toMatchObject(refused)
      expect((await other.remove([key])).data).toEqual([])
      expect((await other.move(key, `${stranger.sub}/mine.txt`)).error).toMatchObject(missing)
      expect((await other.copy(key, `${stranger.sub}/mine.txt`)).error).toMatchObject(missing)
    }
    expect(await service.files()).toEqual(before)
    expect(await textOf(files, key)).toBe('secret')
    const single = await fetch(`${service.url}/object/documents/${key}`, {
      method: 'DELETE',
      headers: await service.headersOf(stranger),
    })
    expect(await single.json()).toMatchObject({ statusCode: '404', code: 'NoSuchKey' })
    for (const address of ['', 'authenticated/', 'public/', 'info/', 'info/public/', 'info/authenticated/']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await fetch(`${service.url}/object/${address}documents/${key}`, { method })
        expect(answer.status, `${method} ${address}`).toBe(400)
        expect(await answer.text()).not.toContain('secret"')
      }
    }
  })

  test('cannot receive an object, and the owner cannot move one to another folder', async () => {
    const key = await put('mine.txt')
    const refused = { statusCode: '403' }
    expect((await files.move(key, `${stranger.sub}/gift.txt`)).error).toMatchObject(refused)
    expect((await files.copy(key, `${stranger.sub}/gift.txt`)).error).toMatchObject(refused)
    expect((await files.upload('loose.txt', 'x', { contentType: 'text/plain' })).error).toMatchObject(refused)
    expect((await files.upload(owner.sub, 'x', { contentType: 'text/plain' })).error).toMatchObject(refused)
    expect(await textOf(files, key)).toBe('hello world')
  })

  test('cannot make a row reference the bytes of others', async () => {
    const key = await put('bytes.txt', 'mine')
    const { blob_id: blobId } = await rowAt(key)
    const insert = (column: string) =>
      service.db.database.asUser(stranger, (scope) =>
        scope.query(`insert into storage.objects (bucket_id, name, ${column}) values ('documents', $1, $2)`, [
          `${stranger.sub}/${column}`,
          blobId,
        ]),
      )
    await expect(insert('blob_id')).rejects.toMatchObject({ code: '42501' })
    await insert('version')
    expect((await strangersFiles.download(`${stranger.sub}/version`)).error).toMatchObject({ statusCode: '404' })
    await strangersFiles.remove([`${stranger.sub}/version`])
    await service.files()
    expect(await textOf(files, key)).toBe('mine')
  })

  test('a malformed or expired token is rejected', async () => {
    const key = await put('token.txt')
    const ended = await service.tokens.sign({ ...owner, iat: 1, exp: 2 })
    for (const token of ['nonsense', ended, `${service.tokens.anonKey}x`]) {
      const answer = await fetch(`${service.url}/object/documents/${key}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ statusCode: '403', error: 'Unauthorized' })
    }
  })
})

describe('traversal', () => {
  /** Sends a path unchanged; `fetch` would normalise it. */
  function send(method: string, address: string, headers: Record<string, string>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(service.url, { method, path: address, headers }, (answer) => {
        json(answer).then(resolve, reject)
      })
      request.on('error', reject)
      request.end(method === 'GET' ? '' : 'x')
    })
  }

  test.each([
    '..%2f..%2fetc/passwd',
    'a/..%2fb.txt',
    'a%5c..%5cb.txt',
    'a%00b.txt',
    'a//b.txt',
    '%2fetc/passwd',
    'a%',
    '%ff.txt',
    '%252e%252e/x.txt',
  ])('%s is rejected as a key', async (path) => {
    const before = await service.files()
    const headers = { ...(await service.headersOf(owner)), 'content-type': 'text/plain' }
    for (const method of ['POST', 'PUT', 'GET']) {
      const answer = await send(method, `/storage/v1/object/documents/${owner.sub}/${path}`, headers)
      expect(answer).toMatchObject({ statusCode: '400', code: 'InvalidKey' })
    }
    expect(await service.files()).toEqual(before)
  })

  test.each(['../x.txt', '%2e%2e/x.txt', '../../x', 'a%0d%0ab.txt'])(
    '%s leads to no place that the person may not reach',
    async (path) => {
      const headers = { ...(await service.headersOf(owner)), 'content-type': 'text/plain' }
      for (const method of ['POST', 'PUT', 'GET']) {
        const answer = await send(method, `/storage/v1/object/documents/${owner.sub}/${path}`, headers)
        expect(answer).toMatchObject({ statusCode: expect.stringMatching(/^40[034]$/) as string })
      }
    },
  )

  test('and neither as the destination of a move or a copy', async () => {
    const key = await put('stays.txt')
    for (const goal of ['../x.txt', `${owner.sub}/../${stranger.sub}/x.txt`, `${owner.sub}/a\\b`, '', '/x']) {
      expect((await files.move(key, goal)).error).toMatchObject({ statusCode: '400' })
      expect((await files.copy(key, goal)).error).toMatchObject({ statusCode: '400' })
    }
  })
})

describe('move, copy and remove', () => {
  test('moves the row and leaves the bytes in place', async () => {
    const key = await put('from.txt', 'moving')
    const before = await rowAt(key)
    expect(await files.move(key, own('to/there.txt'))).toEqual({
      data: { message: 'Successfully moved' },
      error: null,
    })
    expect((await files.download(key)).error).toMatchObject({ statusCode: '404' })
    expect(await textOf(files, own('to/there.txt'))).toBe('moving')
    const after = await rowAt(own('to/there.txt'))
    expect(after).toMatchObject({ id: before.id, blob_id: before.blob_id })
    await put('taken.txt')
    expect((await files.move(own('to/there.txt'), own('taken.txt'))).error).toMatchObject({ statusCode: '409' })
    expect((await files.move(own('nothing.txt'), own('x.txt'))).error).toMatchObject({ statusCode: '404' })
  })

  test('copies bytes, so that both objects are independent', async () => {
    const key = await put('original.txt', 'copied')
    const { data, error } = await files.copy(key, own('copy.txt'))
    expect(error).toBeNull()
    expect(data).toEqual({ path: `documents/${own('copy.txt')}` })
    expect((await files.copy(key, own('copy.txt'))).error).toMatchObject({ statusCode: '409' })
    await files.remove([key])
    await service.files()
    expect(await textOf(files, own('copy.txt'))).toBe('copied')
  })

  test('a move and a copy respect the limits of the destination bucket', async () => {
    const admin = await service.clientOf('service')
    await admin.createBucket('anything', { public: false })
    expect((await admin.from('anything').upload('x.html', '<b>', { contentType: 'text/html' })).error).toBeNull()
    const goal = { destinationBucket: 'documents' }
    const refused = { statusCode: '415' }
    expect((await admin.from('anything').move('x.html', own('x.html'), goal)).error).toMatchObject(refused)
    expect((await admin.from('anything').copy('x.html', own('x.html'), goal)).error).toMatchObject(refused)
    expect((await admin.from('anything').move('x.html', 'y.html', { destinationBucket: 'no' })).error).toMatchObject({
      statusCode: '404',
    })
  })

  test('removes existing objects with their bytes and skips the others', async () => {
    const key = await put('gone.txt')
    const { blob_id: blobId } = await rowAt(key)
    const { data } = await files.remove([key, own('never.txt'), `${stranger.sub}/x.txt`])
    expect(data).toMatchObject([{ name: key, bucket_id: 'documents', owner: owner.sub }])
    expect(data?.[0]).not.toHaveProperty('blob_id')
    expect(await service.files()).not.toContain(blobId)
    const tooMany = Array.from({ length: 1001 }, () => randomUUID())
    expect((await files.remove(tooMany)).error).toMatchObject({ statusCode: '400' })
    expect((await files.remove([])).error).toMatchObject({ statusCode: '400' })
  })
})

test('deleting an account removes its files and no others', async () => {
  const leaver = await service.db.createPerson()
  await put('stays-here.txt')
  const key = `${leaver.sub}/a/b.txt`
  expect((await (await as(leaver)).upload(key, 'x', { contentType: 'text/plain' })).error).toBeNull()
  const { blob_id: blobId } = await rowAt(key)
  await service.db.database.asAuth((scope) => scope.query('delete from auth.users where id = $1', [leaver.sub]))
  expect(await rowsAt(key)).toEqual([])
  expect(await service.files()).not.toContain(blobId)
  expect(await textOf(files, own('stays-here.txt'))).toBe('hello world')
})

describe('list', () => {
  const names = async (folder: string, options = {}) =>
    (await files.list(own(folder), options)).data?.map(({ name, id }) => (id === null ? `${name}/` : name))

  beforeAll(async () => {
    for (const name of ['b.txt', 'a.txt', 'a/1.txt', 'a/2/3.txt', 'a-b.txt', 'Cat.txt', 'z/9.txt', 'cattle/x.txt'])
      await put(`list/${name}`)
  })

  test('lists a folder once, as a row without an id', async () => {
    expect(await names('list')).toEqual(['Cat.txt', 'a-b.txt', 'a.txt', 'a/', 'b.txt', 'cattle/', 'z/'])
    expect(await names('list/a')).toEqual(['1.txt', '2/'])
    expect(await names('list/a/2/')).toEqual(['3.txt'])
    expect(await names('nowhere')).toEqual([])
    const { data } = await files.list(own('list'), { limit: 4 })
    expect(data?.[3]).toEqual({
      name: 'a',
      id: null,
      updated_at: null,
      created_at: null,
      last_accessed_at: null,
      metadata: null,
    })
    expect(data?.[2]).toMatchObject({ name: 'a.txt', metadata: { size: 11, mimetype: 'text/plain' } })
    expect((await files.list()).data).toMatchObject([{ name: owner.sub, id: null }])
  })

  test('pages, sorts and searches', async () => {
    expect(await names('list', { limit: 2, offset: 1 })).toEqual(['a-b.txt', 'a.txt'])
    expect(await names('list', { sortBy: { column: 'name', order: 'desc' } })).toEqual([
      'z/',
      'cattle/',
      'b.txt',
      'a/',
      'a.txt',
      'a-b.txt',
      'Cat.txt',
    ])
    expect(await names('list', { sortBy: { column: 'name', order: 'desc' }, limit: 2, offset: 2 })).toEqual([
      'b.txt',
      'a/',
    ])
    expect(await names('list', { sortBy: { column: 'created_at', order: 'desc' } })).toEqual([
      'a/',
      'cattle/',
      'z/',
      'Cat.txt',
      'a-b.txt',
      'a.txt',
      'b.txt',
    ])
    expect(await names('list', { search: 'CAT' })).toEqual(['Cat.txt', 'cattle/'])
    expect(await names('list', { search: '%' })).toEqual([])
    expect((await files.list('', { limit: 0 })).error).toMatchObject({ statusCode: '400' })
    expect((await files.list('', { sortBy: { column: 'id; drop' } })).error).toMatchObject({ statusCode: '400' })
  })

  test('returns complete keys in pages, with separate folders if a delimiter is requested', async () => {
    const prefix = own('list/')
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { data } = await files.listV2({ prefix, limit: 3, ...(cursor === undefined ? {} : { cursor }) })
      seen.push(...(data?.objects.map(({ name }) => name) ?? []))
      cursor = data?.nextCursor
    } while (cursor !== undefined)
    const keys = ['Cat.txt', 'a-b.txt', 'a.txt', 'a/1.txt', 'a/2/3.txt', 'b.txt', 'cattle/x.txt', 'z/9.txt']
    expect(seen).toEqual(keys.map((key) => own(`list/${key}`)))

    const { data } = await files.listV2({ prefix: own('list/a'), with_delimiter: true, sortBy: { column: 'name' } })
    expect(data?.hasNext).toBe(false)
    expect(data?.folders).toEqual([{ key: own('list/a'), name: own('list/a/') }])
    expect(data?.objects.map(({ key }) => key)).toEqual([own('list/a-b.txt'), own('list/a.txt')])
    expect((await strangersFiles.listV2({ prefix: owner.sub })).data?.objects).toEqual([])
    expect((await files.listV2({ cursor: 'nonsense' })).error).toMatchObject({ statusCode: '400' })
  })

  test('uses the index, also under the policy', async () => {
    await service.db.admin.query(
      `insert into storage.objects (bucket_id, name)
       select 'documents', $1 || '/many/' || lpad((i / 100)::text, 3, '0') || '/' || i from generate_series(0, 19999) i`,
      [owner.sub],
    )
    await service.db.admin.query('analyze storage.objects')
    expect((await names('many'))?.slice(0, 3)).toEqual(['000/', '001/', '002/'])
    expect(await names('many', { offset: 198 })).toEqual(['198/', '199/'])
    const plan = await service.db.database.asUser(owner, (scope) =>
      scope.query<{ 'QUERY PLAN': string }>(
        `explain select name from storage.objects where bucket_id = 'documents' and name collate "C" >= $1
         order by name collate "C" limit 1`.replace('$1', `'${owner.sub}/many/'`),
      ),
    )
    expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
      /Index Cond: .*bucket_id = 'documents'.*name.*>=/,
    )
    await service.db.admin.query(`delete from storage.objects where name like '%/many/%'`)
  })
})
