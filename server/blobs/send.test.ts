import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { createServer, get, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { createDiskStore } from './disk.ts'
import { streamFile } from './file-stream.ts'
import { withReusedBuffers, sendFromReusedBuffer } from './send.ts'
import { serveBlob } from './serve.ts'

type Answer = Parameters<typeof withReusedBuffers>[0]

async function serve(answer: Answer): Promise<string> {
  const listener = getRequestListener(withReusedBuffers(answer, createLog('silent')))
  const server = createServer((request, response) => void listener(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-send-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

async function keep(bytes: Buffer) {
  const store = createDiskStore(await temporaryFolder())
  const { id } = await store.put(Readable.from([bytes]))
  return { store, id }
}

async function openFile(bytes: Buffer) {
  const file = await open(path.join(await temporaryFolder(), 'file'), 'w+')
  onTestFinished(() => file.close())
  await file.writeFile(bytes)
  return file
}

const fileOf = (blobId: string, headers = {}) => ({ blobId, mediaType: undefined, name: 'a file', headers })

async function ask(address: string): Promise<IncomingMessage> {
  const [answer] = (await once(get(address), 'response')) as [IncomingMessage]
  return answer
}

test('many slow readers get every byte unchanged', async () => {
  const bytes = randomBytes(12 * 1024 * 1024 + 1)
  const { store, id } = await keep(bytes)
  const address = await serve((request) => serveBlob(store, fileOf(id, { 'x-from': 'test' }), request))
  const reads = Array.from({ length: 4 }, async () => {
    const answer = await ask(address)
    expect(answer.headers).toMatchObject({ 'content-length': String(bytes.length), 'x-from': 'test' })
    return (await buffer(answer)).equals(bytes)
  })
  expect(await Promise.all(reads)).toEqual([true, true, true, true])
})

test('sequential requests on one connection get their own range each', async () => {
  const bytes = randomBytes(600_000)
  const { store, id } = await keep(bytes)
  const address = await serve((request) => serveBlob(store, fileOf(id), request))
  for (const [range, part] of [
    ['bytes=0-299999', bytes.subarray(0, 300_000)],
    ['bytes=300000-', bytes.subarray(300_000)],
    ['bytes=-1', bytes.subarray(-1)],
  ] as const) {
    const answer = await fetch(address, { headers: { range } })
    expect(answer.status).toBe(206)
    expect(Buffer.from(await answer.arrayBuffer()).equals(part)).toBe(true)
  }
  const head = await fetch(address, { method: 'HEAD' })
  expect([head.headers.get('content-length'), await head.text()]).toEqual(['600000', ''])
})

test('pipelined requests are answered in order', async () => {
  const bytes = randomBytes(600_000)
  const { store, id } = await keep(bytes)
  const address = await serve((request) => serveBlob(store, fileOf(id), request))
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nrange: bytes=0-299999\r\n\r\n')
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nrange: bytes=300000-\r\nconnection: close\r\n\r\n')
  const received = await buffer(socket)
  const places = [bytes.subarray(0, 300_000), bytes.subarray(300_000)].map((part) => received.indexOf(part))
  expect(places).toEqual([expect.any(Number), received.length - 300_000])
  expect(places[0]).toBeGreaterThan(0)
})

test('waiting pipelined requests hold no buffer, and all close their files with the connection', async () => {
  const bytes = randomBytes(8 * 1024 * 1024)
  const files = [await openFile(bytes), await openFile(bytes)] as const
  const asked = files.values()
  const bodies: ReadableStream<Uint8Array>[] = []
  const address = await serve((request) => {
    const { value: file } = asked.next()
    if (!file) throw new Error('only two requests were sent')
    const body = streamFile(file, { start: 0, end: bytes.length - 1 })
    bodies.push(body)
    sendFromReusedBuffer(request, body)
    return new Response(body, { headers: { 'content-length': String(bytes.length) } })
  })
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(2))
  await once(socket, 'readable')
  await expect.poll(() => bodies.length).toBe(2)
  expect(bodies.map(({ locked }) => locked)).toEqual([true, false])
  socket.destroy()
  await expect.poll(() => files.map(({ fd }) => fd)).toEqual([-1, -1])
})

test('sends an empty body', async () => {
  const { store, id } = await keep(Buffer.alloc(0))
  const answer = await fetch(await serve((request) => serveBlob(store, fileOf(id), request)))
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '0', ''])
})

test('a file that ends before its declared length breaks the connection', async () => {
  const { store, id } = await keep(randomBytes(300_000))
  const longer = { ...store, size: async () => (await store.size(id)) + 1 }
  const answer = await ask(await serve((request) => serveBlob(longer, fileOf(id), request)))
  expect(answer.statusCode).toBe(200)
  await expect(answer.toArray()).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test('closes the file after sending, where the reader goes away, and where another response replaces it', async () => {
  const bytes = randomBytes(12 * 1024 * 1024)
  const answerWith =
    (file: Awaited<ReturnType<typeof openFile>>): Answer =>
    (request) => {
      const body = streamFile(file, { start: 0, end: bytes.length - 1 })
      sendFromReusedBuffer(request, body)
      const isRefused = request.url.endsWith('/refused')
      return isRefused
        ? new Response('refused', { status: 500 })
        : new Response(body, { headers: { 'content-length': String(bytes.length) } })
    }

  const sent = await openFile(bytes)
  expect((await (await fetch(await serve(answerWith(sent)))).arrayBuffer()).byteLength).toBe(bytes.length)
  await expect.poll(() => sent.fd).toBe(-1)

  const left = await openFile(bytes)
  const answer = await ask(await serve(answerWith(left)))
  await once(answer, 'readable')
  expect(left.fd).not.toBe(-1)
  answer.destroy()
  await expect.poll(() => left.fd).toBe(-1)

  const refused = await openFile(bytes)
  expect((await fetch(`${await serve(answerWith(refused))}refused`)).status).toBe(500)
  await expect.poll(() => refused.fd).toBe(-1)
})
