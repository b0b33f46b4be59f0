import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startFakeS3 } from '#test/fake-s3.ts'
import { createDiskStore } from './disk.ts'
import { createS3Store } from './s3.ts'
import type { BlobStore } from './store.ts'

interface OpenStore {
  readonly store: BlobStore
  /** Names of all files or objects, unfinished ones included. */
  readonly names: () => Promise<string[]>
}

async function openDisk(): Promise<OpenStore> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-blobs-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const names = async () =>
    (await readdir(dataDir, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
  return { store: createDiskStore(dataDir), names }
}

async function openS3(): Promise<OpenStore> {
  const s3 = await startFakeS3()
  onTestFinished(() => s3.close())
  return { store: createS3Store(s3.options), names: async () => s3.keys() }
}

describe.each([
  ['disk', openDisk],
  ['S3', openS3],
])('blobs on %s', (_, open) => {
  test('returns stored bytes, whole and by range', async () => {
    const { store } = await open()
    const { id, size } = await store.put(Readable.from(['hello ', 'world'].map((word) => Buffer.from(word))))
    expect(size).toBe(11)
    expect(await store.size(id)).toBe(11)
    expect(await text(await store.open(id))).toBe('hello world')
    expect(await text(await store.open(id, { start: 6, end: 8 }))).toBe('wor')
  })

  test('stores blobs larger than one part, and empty ones', async () => {
    const { store } = await open()
    const bytes = randomBytes(12 * 1024 * 1024 + 1)
    const pieces = Array.from({ length: 193 }, (_piece, index) => bytes.subarray(index * 65_536, (index + 1) * 65_536))
    const { id, size } = await store.put(Readable.from(pieces))
    expect(size).toBe(bytes.length)
    expect((await buffer(await store.open(id))).equals(bytes)).toBe(true)
    const empty = await store.put(Readable.from([]))
    expect(await store.size(empty.id)).toBe(0)
    expect(await text(await store.open(empty.id))).toBe('')
  })

  test.each([1, 130])('stores nothing of a stream that fails after %d chunks', async (pieces) => {
    const { store, names } = await open()
    const broken = Readable.from(
      (async function* () {
        for (let piece = 0; piece < pieces; piece += 1) yield Buffer.alloc(65_536)
        throw new Error('cut')
      })(),
    )
    await expect(store.put(broken)).rejects.toThrow('cut')
    await expect.poll(names).toEqual([])
  })

  test('removes blobs, and ignores missing ones', async () => {
    const { store, names } = await open()
    const { id } = await store.put(Readable.from([Buffer.from('x')]))
    await store.remove(id)
    await store.remove(id)
    await store.remove(randomUUID())
    expect(await names()).toEqual([])
    await expect(store.open(id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(store.size(id)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('lists stored blobs', async () => {
    const { store } = await open()
    const put = await Promise.all(['a', 'b', 'c'].map((word) => store.put(Readable.from([Buffer.from(word)]))))
    const listed: string[] = []
    for await (const { id, modifiedAt } of store.list()) {
      listed.push(id)
      expect(modifiedAt).toBeInstanceOf(Date)
    }
    expect(listed.sort()).toEqual(put.map(({ id }) => id).sort())
  })

  test('rejects a path as an id', async () => {
    const { store } = await open()
    for (const id of ['../../etc/passwd', '/etc/passwd', '', 'a'.repeat(36)]) {
      await expect(store.open(id)).rejects.toMatchObject({ code: 'not_found' })
      await expect((async () => store.remove(id))()).rejects.toThrow()
    }
  })
})

test('S3: ends unfinished uploads that began before a time, and no others', async () => {
  const s3 = await startFakeS3()
  onTestFinished(() => s3.close())
  const [begun, foreign] = [randomUUID(), 'backup.tar']
  const [old, recent] = [new Date('2026-01-01'), new Date('2026-01-03')]
  for (let n = 0; n < 3; n += 1) s3.addUnfinished(randomUUID(), old)
  s3.addUnfinished(begun, recent)
  s3.addUnfinished(foreign, old)
  expect(await createS3Store(s3.options).removeUnfinished?.(new Date('2026-01-02'))).toBe(3)
  expect(s3.keys().toSorted()).toEqual([begun, foreign].toSorted())
})

test('reports a rejected secret, and does not take the store for empty', async () => {
  const s3 = await startFakeS3()
  onTestFinished(() => s3.close())
  const store = createS3Store({ ...s3.options, secretKey: 'another' })
  await expect(store.size(randomUUID())).rejects.not.toMatchObject({ code: 'not_found' })
  await expect(store.put(Readable.from([Buffer.from('x')]))).rejects.toThrow(/SignatureDoesNotMatch/)
})

describe('S3: a store that falls silent', () => {
  /** @param answer what it says to every request before it falls silent */
  async function openSilent(answer: (response: ServerResponse) => void = () => undefined) {
    const server = createServer((request, response) => {
      request.resume()
      answer(response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const options = { endpoint: `http://127.0.0.1:${port}`, bucket: 'b', region: 'r', accessKey: 'a', secretKey: 's' }
    return createS3Store({ ...options, limits: { answer: 100, idle: 100 } })
  }
  const timedOut = { name: 'TimeoutError' }
  const id = randomUUID()

  test('without an answer, fails what waits for it', async () => {
    const store = await openSilent()
    await Promise.all([
      expect(store.remove(id)).rejects.toMatchObject(timedOut),
      expect(store.open(id)).rejects.toMatchObject(timedOut),
      expect(store.put(Readable.from([Buffer.from('x')]))).rejects.toMatchObject(timedOut),
    ])
  })

  test('in the middle of a file, fails who reads it', async () => {
    const store = await openSilent((response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half of it')
    })
    await expect(text(await store.open(id))).rejects.toThrow('the store sent nothing for 100 ms')
  })
})

test('S3: a reader who pauses for longer than the store may be silent reads on', async () => {
  const s3 = await startFakeS3()
  onTestFinished(() => s3.close())
  const store = createS3Store({ ...s3.options, limits: { idle: 2_000 } })
  const bytes = randomBytes(20 * 1024 * 1024)
  const { id } = await store.put(Readable.from([bytes]))
  const stream = await store.open(id)
  if (!(stream instanceof IncomingMessage)) throw new Error('not the answer of the store')
  await once(stream, 'readable')
  await once(stream.socket, 'timeout')
  expect((await buffer(stream)).equals(bytes)).toBe(true)
})
