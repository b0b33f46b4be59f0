import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { createTokens, type Tokens } from '#server/access/tokens.ts'
import { createLog } from '#server/base/log.ts'
import { createTranscriber } from '#server/providers/transcribe.ts'
import { startStubModel, type StubModel } from '#test/stub-model.ts'
import { createTranscriptionRoutes, type TranscriptionRoutesParts } from './transcribe.ts'

const TRANSCRIPT = 'this is the fixed transcript of the stub'
const NONE = { apiKey: undefined, baseUrl: undefined }

let folder: string
let tokens: Tokens
let stub: StubModel

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'alcove-voice-'))
  tokens = await createTokens(await loadSecretsFromFolder(folder))
  stub = await startStubModel({ sttdelay: 0 })
})
afterAll(async () => {
  await stub.stop()
  await rm(folder, { recursive: true, force: true })
})

const tokenOf = (role: 'authenticated' | 'anon') => {
  const now = Math.floor(Date.now() / 1000)
  const person = { sub: randomUUID(), session_id: randomUUID() }
  return tokens.sign({ ...(role === 'anon' ? {} : person), role, iss: 'test', iat: now, exp: now + 60 })
}

const asking = (baseUrl: string, timeoutMs = 60_000) =>
  createTranscriber({ openai: NONE, compatible: { apiKey: 'a key', baseUrl }, model: 'whisper-1', timeoutMs })

/** A server with these routes alone; returns its address. */
async function start(parts: Partial<TranscriptionRoutesParts>): Promise<string> {
  const routes = createTranscriptionRoutes({
    accessWatch: { watch: () => () => undefined },
    tokens,
    log: createLog('silent'),
    address: 'http://127.0.0.1',
    transcriber: asking(stub.baseUrl),
    browserAccess: null,
    ...parts,
  })
  const { fetch } = new Hono().route('/api', routes)
  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const made = serve({ fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(made))
  })
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A provider that answers as it is told; returns its base address. */
async function startProvider(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

function formOf(bytes: Uint8Array<ArrayBuffer>, type = 'audio/webm;codecs=opus', field = 'audio'): FormData {
  const form = new FormData()
  form.append(field, new Blob([bytes], { type }), 'recording.webm')
  return form
}

async function send(address: string, body: FormData | Blob | string): Promise<[number, unknown]> {
  const headers = { authorization: `Bearer ${await tokenOf('authenticated')}` }
  const response = await fetch(`${address}/api/transcribe`, { method: 'POST', headers, body })
  return [response.status, await response.json()]
}

const refusal = (code: string) => ({ error: { code, message: expect.any(String) as string } })

test('a recording becomes text', async () => {
  expect(await send(await start({}), formOf(Buffer.from('sound')))).toEqual([200, { text: TRANSCRIPT }])
})

test('the end of the session breaks the recording and the request to the provider off', async () => {
  const ended = Promise.withResolvers<() => void>()
  const accessWatch: TranscriptionRoutesParts['accessWatch'] = {
    watch(_person, { onLost }) {
      ended.resolve(onLost)
      return () => undefined
    },
  }
  const broken = Promise.withResolvers<undefined>()
  const provider = await startProvider((request, response) => {
    response.once('close', () => {
      broken.resolve(undefined)
    })
    void buffer(request).then(async () => (await ended.promise)())
  })
  const sending = send(await start({ transcriber: asking(provider), accessWatch }), formOf(Buffer.from('sound')))
  await expect(sending).rejects.toThrow('fetch failed')
  await broken.promise
})

test('the provider gets the whole recording under a name of ours, with the model and the key', async () => {
  const sound = Buffer.alloc(3_000_000, 'sound')
  const expected = [
    '--B\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n',
    '--B\r\ncontent-disposition: form-data; name="response_format"\r\n\r\njson\r\n',
    '--B\r\ncontent-disposition: form-data; name="file"; filename="recording.webm"\r\n',
    `content-type: audio/webm\r\n\r\n${sound.toString()}\r\n--B--\r\n`,
  ].join('')
  let seen: { body: Buffer; key: string | undefined } | undefined
  const provider = await startProvider((request, response) => {
    void buffer(request).then((body) => {
      seen = { body, key: request.headers.authorization }
      response.end('{"text":"heard"}')
    })
  })
  expect(await send(await start({ transcriber: asking(provider) }), formOf(sound))).toEqual([200, { text: 'heard' }])
  expect(seen?.key).toBe('Bearer a key')
  expect(seen?.body.toString().replaceAll(/alcove-[0-9a-f-]{36}/g, 'B') === expected).toBe(true)
})

test('only audio is taken, none that is empty and none above 25 MB', async () => {
  const address = await start({})
  expect(await send(address, formOf(Buffer.from('x'), 'text/plain'))).toEqual([415, refusal('unsupported_type')])
  expect(await send(address, formOf(Buffer.from('x'), 'audio/unheard-of'))).toEqual([415, refusal('unsupported_type')])
  expect(await send(address, formOf(new Uint8Array()))).toEqual([422, refusal('empty')])
  expect(await send(address, formOf(Buffer.alloc(25 * 1024 * 1024)))).toEqual([200, { text: TRANSCRIPT }])
  expect(await send(address, formOf(Buffer.alloc(25 * 1024 * 1024 + 1)))).toEqual([413, refusal('too_large')])
})

test('a body that holds no recording is a bad request', async () => {
  const address = await start({})
  expect(await send(address, formOf(Buffer.from('x'), 'audio/webm', 'file'))).toEqual([400, refusal('bad_request')])
  expect(await send(address, '{}')).toEqual([415, refusal('unsupported_type')])
  const [head = ''] = (await new Response(formOf(Buffer.from('sound'))).text()).split('sound')
  const boundary = head.slice(2, head.indexOf('\r\n'))
  const cut = new Blob([`${head}sou`], { type: `multipart/form-data; boundary=${boundary}` })
  expect(await send(address, cut)).toEqual([400, refusal('bad_request')])
})

test('what is wrong at the provider is said', async () => {
  const failing = async (status: number) =>
    send(
      await start({ transcriber: asking(await startProvider((_, response) => response.writeHead(status).end('{}'))) }),
      formOf(Buffer.from('sound')),
    )
  expect(await failing(200)).toEqual([503, refusal('unavailable')])
  expect(await failing(401)).toEqual([503, refusal('unavailable')])
  expect(await failing(413)).toEqual([413, refusal('too_large')])
  expect(await failing(429)).toEqual([429, refusal('rate_limited')])
  const silent = await start({ transcriber: asking(await startProvider(() => undefined), 50) })
  expect(await send(silent, formOf(Buffer.from('sound')))).toEqual([503, refusal('unavailable')])
  const gone = await start({ transcriber: asking('http://127.0.0.1:9/v1') })
  expect(await send(gone, formOf(Buffer.from('sound')))).toEqual([503, refusal('unavailable')])
})

test('without a provider there is nothing at the address', async () => {
  expect(createTranscriber({ openai: NONE, compatible: NONE, model: 'whisper-1' })).toBeNull()
  expect(await send(await start({ transcriber: null }), formOf(Buffer.from('sound')))).toEqual([
    404,
    refusal('not_found'),
  ])
})

test('nobody who is not signed in gets words or the key', async () => {
  const address = await start({ browserAccess: { apiKey: 'for browsers', baseUrl: 'https://api.openai.com/v1' } })
  for (const headers of [{}, { authorization: `Bearer ${await tokenOf('anon')}` }]) {
    const body = formOf(Buffer.from('sound'))
    expect((await fetch(`${address}/api/transcribe`, { method: 'POST', headers, body })).status).toBe(401)
    expect((await fetch(`${address}/api/openai/key`, { headers })).status).toBe(401)
  }
})

test('a key is answered only where one is meant for browsers', async () => {
  const browserAccess = { apiKey: 'for browsers', baseUrl: 'https://api.openai.com/v1' }
  const headers = { authorization: `Bearer ${await tokenOf('authenticated')}` }
  const without = await fetch(`${await start({})}/api/openai/key`, { headers })
  expect([without.status, await without.json()]).toEqual([404, refusal('not_found')])
  const answered = await fetch(`${await start({ browserAccess })}/api/openai/key`, { headers })
  expect(await answered.json()).toEqual(browserAccess)
  expect(answered.headers.get('cache-control')).toBe('no-store')
})
