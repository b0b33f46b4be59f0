import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { modelFetch } from './model-fetch.ts'
import { withTextListener } from './text-deltas.ts'

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const post = (address: string, init: RequestInit = {}) =>
  modelFetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"ü":1}', ...init })

test('sends a text and its headers, and returns status, headers and decompressed bytes', async () => {
  const address = await serve((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, headers } = request
      const said = {
        method,
        type: headers['content-type'],
        length: headers['content-length'],
        body: String(Buffer.concat(chunks)),
      }
      response.writeHead(429, { 'content-encoding': 'gzip', 'retry-after': '3' }).end(gzipSync(JSON.stringify(said)))
    })
  })
  const response = await post(address)
  expect([response.status, response.ok, response.headers.get('retry-after')]).toEqual([429, false, '3'])
  expect(response.headers.has('content-encoding')).toBe(false)
  expect(await response.json()).toEqual({ method: 'POST', type: 'application/json', length: '8', body: '{"ü":1}' })
})

test('delivers each chunk as it arrives, and closes the connection when the reader cancels', async () => {
  const left = Promise.withResolvers<undefined>()
  let write: ((text: string) => void) | undefined
  const address = await serve((_request, response) => {
    response.on('close', () => left.resolve(undefined))
    response.writeHead(200).flushHeaders()
    write = (text) => response.write(text)
  })
  const reader = (await post(address)).body?.getReader()
  for (const text of ['one', 'two']) {
    write?.(text)
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(text)
  }
  await reader?.cancel()
  await left.promise
})

test('an aborted signal ends the request and the reading of its response, with its reason', async () => {
  const address = await serve((request, response) => {
    if (request.url === '/silent') return
    response.writeHead(200).flushHeaders()
  })
  const stop = () => {
    const controller = new AbortController()
    setImmediate(() => controller.abort(new Error('stopped')))
    return controller.signal
  }
  await expect(post(`${address}/silent`, { signal: stop() })).rejects.toThrow('stopped')
  const controller = new AbortController()
  const { body } = await post(address, { signal: controller.signal })
  const read = body?.getReader().read()
  controller.abort()
  await expect(read).rejects.toThrow(/abort/)
})

test('an interrupted response and an unreachable server are errors', async () => {
  const address = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  })
  await expect((await post(address)).text()).rejects.toThrow()
  await expect(post('http://127.0.0.1:1')).rejects.toMatchObject({
    name: 'TypeError',
    message: 'fetch failed',
    cause: { code: 'ECONNREFUSED' },
  })
})

test('follows a redirect with the same body', async () => {
  const address = await serve((request, response) => {
    if (request.url === '/old') response.writeHead(307, { location: '/new' }).end()
    else request.pipe(response.writeHead(200))
  })
  expect(await (await post(`${address}/old`)).text()).toBe('{"ü":1}')
})

test('reuses a connection, and opens a new one if the server has just closed it', async () => {
  const served = new Map<Socket, number>()
  const address = await serve((request, response) => {
    const times = (served.get(request.socket) ?? 0) + 1
    served.set(request.socket, times)
    if (times === 3) request.socket.resetAndDestroy()
    else request.pipe(response)
  })
  for (let index = 0; index < 3; index += 1) expect(await (await post(address)).text()).toBe('{"ü":1}')
  expect([...served.values()]).toEqual([3, 1])
})

test('does not repeat a request when a reused connection breaks in the middle of a response', async () => {
  const asked: Socket[] = []
  const address = await serve((request, response) => {
    asked.push(request.socket)
    if (asked.length === 2) response.write('half', () => request.socket.resetAndDestroy())
    else request.pipe(response)
  })
  await (await post(address)).text()
  await expect((await post(address)).text()).rejects.toThrow()
  expect(await (await post(address)).text()).toBe('{"ü":1}')
  expect([asked.length, asked[1] === asked[0], asked[2] === asked[0]]).toEqual([3, true, false])
})

test('reports text that arrives with the headers before returning the response', async () => {
  const event = 'data: {"choices":[{"index":0,"delta":{"content":"word"}}]}\n\n'
  const address = await serve((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event),
  )
  const told: string[] = []
  await withTextListener({ onText: (_, text) => told.push(text) }, () => post(`${address}/v1/chat/completions`))
  expect(told).toEqual(['word'])
})

test('reports the text of an answer to the listener, whatever its type, and leaves other responses unchanged', async () => {
  const event = 'data: {"choices":[{"index":0,"delta":{"content":"word"}}]}\n\n'
  const address = await serve((request, response) => {
    const [, status, type] = (request.url ?? '').split('/')
    response.writeHead(Number(status), { 'content-type': `text/${type}` }).end(`${event}data: [DONE]\n\n`)
  })
  const told: string[] = []
  const listen = async (path: string) => {
    const response = await withTextListener({ onText: (kind, text) => told.push(`${kind} ${text}`) }, () =>
      post(`${address}/${path}`),
    )
    return response.text()
  }
  expect(await listen('200/event-stream/chat/completions')).not.toContain('word')
  expect(await listen('200/plain/chat/completions')).not.toContain('word')
  expect(told).toEqual(['text word', 'text word'])
  for (const other of ['200/event-stream/embeddings', '500/event-stream/chat/completions'])
    expect(await listen(other)).toBe(`${event}data: [DONE]\n\n`)
  expect(await (await post(`${address}/200/event-stream/chat/completions`)).text()).toContain('word')
  expect(told).toHaveLength(2)
})
