import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { serveLoopback } from '#test/loopback.ts'
import { createGuardedFetch, guardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts'
import { isPublicAddress } from './public-address.ts'

const serve = async (answer: RequestListener): Promise<string> => (await serveLoopback(answer)).origin

const html = (body: string | Buffer, headers: Record<string, string> = {}) =>
  ((_request: IncomingMessage, response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=UTF-8', ...headers }).end(body)) as RequestListener

const get = (address: string, options: Partial<GuardedFetchOptions> = {}) =>
  guardedFetch(address, {
    signal: new AbortController().signal,
    accept: ['text/html'],
    allowAddress: (candidate) => candidate === '127.0.0.1' || isPublicAddress(candidate),
    ...options,
  })

const getPublic = (address: string, options: Partial<GuardedFetchOptions> = {}) =>
  get(address, { allowAddress: isPublicAddress, ...options })

test('returns the page with its type and encoding', async () => {
  const origin = await serve(html('<p>Hello</p>'))
  const { body, ...rest } = await get(`${origin}/page#part`)
  expect(body.toString()).toBe('<p>Hello</p>')
  expect(rest).toEqual({ address: `${origin}/page`, type: 'text/html', charset: 'utf-8' })
})

test.for([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://%31%32%37.0.0.1/',
  'http://１２７.0.0.1/',
  'http://localhost/',
  'http://LOCALHOST/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[0:0:0:0:0:ffff:7f00:1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[::]/',
  'http://0/',
  'http://10.0.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://[fd00:ec2::254]/',
])('rejects %s', async (address) => {
  await expect(getPublic(address)).rejects.toMatchObject({ code: 'forbidden' })
})

test.for([
  'file:///etc/passwd',
  'ftp://example.com/',
  'gopher://127.0.0.1:70/',
  'data:text/html,x',
  'nothing',
  'http://',
])('takes %s for no address of the web', async (address) => {
  await expect(getPublic(address)).rejects.toMatchObject({ code: 'bad_request' })
})

test('rejects credentials in an address', async () => {
  await expect(getPublic('http://someone:secret@example.com/')).rejects.toMatchObject({ code: 'bad_request' })
})

test('resolves a name once and connects only to the checked addresses', async () => {
  const origin = new URL(await serve(html('<p>pinned</p>')))
  const asked: string[] = []
  const { body } = await get(`http://rebinding.test:${origin.port}/`, {
    // A second DNS query would return only the private address.
    resolve: async (hostname) => (asked.push(hostname) === 1 ? ['127.0.0.1', '169.254.169.254'] : ['169.254.169.254']),
  })
  expect(body.toString()).toBe('<p>pinned</p>')
  expect(asked).toEqual(['rebinding.test'])
})

test('rejects a name with only private addresses before sending anything', async () => {
  let requests = 0
  const origin = new URL(await serve((_request, response) => void response.end(String((requests += 1)))))
  const resolve = async () => ['127.0.0.1', '::ffff:127.0.0.1', '10.0.0.1']
  await expect(getPublic(`http://inside.test:${origin.port}/`, { resolve })).rejects.toMatchObject({
    code: 'forbidden',
  })
  expect(requests).toBe(0)
})

test('follows redirects and checks each one like a new address', async () => {
  const origin = await serve((request, response) => {
    if (request.url === '/relative') response.writeHead(302, { location: '/end' }).end()
    else if (request.url === '/inside') response.writeHead(302, { location: 'http://[::ffff:169.254.169.254]/' }).end()
    else if (request.url === '/file') response.writeHead(301, { location: 'file:///etc/passwd' }).end()
    else if (request.url === '/loop') response.writeHead(307, { location: '/loop' }).end()
    else html('<p>end</p>')(request, response)
  })
  expect((await get(`${origin}/relative`)).address).toBe(`${origin}/end`)
  await expect(get(`${origin}/inside`)).rejects.toMatchObject({ code: 'forbidden' })
  await expect(get(`${origin}/file`)).rejects.toMatchObject({ code: 'bad_request' })
  await expect(get(`${origin}/loop`)).rejects.toThrow('more than 5 times')
})

test('decompresses, and rejects bodies that are too large before or after', async () => {
  const small = '<p>small</p>'
  const zeros = Buffer.alloc(5_000_000)
  for (const [encoding, body] of [
    ['gzip', gzipSync(small)],
    ['br', brotliCompressSync(small)],
  ] as const) {
    expect((await get(await serve(html(body, { 'content-encoding': encoding })))).body.toString()).toBe(small)
  }
  const bomb = await serve(html(gzipSync(zeros), { 'content-encoding': 'gzip' }))
  await expect(get(bomb)).rejects.toMatchObject({ code: 'too_large' })
  await expect(get(await serve(html(zeros)))).rejects.toMatchObject({ code: 'too_large' })
  const endless = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    const write = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', write)
    write()
  })
  await expect(get(endless)).rejects.toMatchObject({ code: 'too_large' })
})

test('rejects other types, reports the status of the host, and times out', async () => {
  await expect(get(await serve(html('x', { 'content-type': 'image/png' })))).rejects.toMatchObject({
    code: 'unsupported_type',
  })
  await expect(get(await serve((_request, response) => void response.writeHead(404).end()))).rejects.toThrow(
    'status 404',
  )
  const broken = await serve(html('not gzip', { 'content-encoding': 'gzip' }))
  await expect(get(broken)).rejects.toMatchObject({ code: 'unavailable' })
  const resolve = async () => ['127.0.0.1', '127.0.0.1']
  await expect(get('http://closed.test:1/', { resolve })).rejects.toThrow(/ECONNREFUSED/)
  const silent = await serve(() => undefined)
  await expect(get(silent, { timeoutMs: 50 })).rejects.toThrow('did not answer within 0.05 seconds')
  const never = () => new Promise<string[]>(() => undefined)
  await expect(get('http://slow.test/', { timeoutMs: 50, resolve: never })).rejects.toThrow('did not answer')
  await expect(get('http://unknown.invalid/')).rejects.toThrow('There is no host named unknown.invalid')
})

test('stops on an aborted signal, with its reason', async () => {
  const stopping = new AbortController()
  const silent = await serve(() => stopping.abort(new Error('enough')))
  await expect(get(silent, { signal: stopping.signal })).rejects.toThrow('enough')
})

describe('createGuardedFetch', () => {
  const local = { allowAddress: (address: string) => address === '127.0.0.1' }

  test('rejects the private network, and sends no key to the target of a redirect', async () => {
    const asked: (string | undefined)[] = []
    const origin = await serve((request, response) => {
      asked.push(request.headers.authorization)
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    const headers = { authorization: 'Bearer key' }
    await expect(createGuardedFetch({})(origin, { headers })).rejects.toMatchObject({ code: 'forbidden' })
    expect(asked).toEqual([])
    await expect(createGuardedFetch(local)(origin, { headers })).rejects.toThrow('which is not followed')
    expect(asked).toEqual(['Bearer key'])
  })

  test('connects to the checked address, even if the name later resolves differently', async () => {
    const origin = new URL(await serve(html('pinned')))
    let asked = 0
    const resolve = async () => ((asked += 1) === 1 ? ['127.0.0.1', '10.0.0.1'] : ['10.0.0.1'])
    const answer = await createGuardedFetch({ ...local, resolve })(`http://rebinding.test:${origin.port}/`)
    expect(await answer.text()).toBe('pinned')
    expect(asked).toBe(1)
  })

  test('explains why an address with a password is rejected without repeating the password', async () => {
    await expect(createGuardedFetch({})('http://user:hush@example.test/')).rejects.toMatchObject({
      code: 'bad_request',
      message: 'An address with a user name or a password in it is not read.',
    })
  })

  test('aborts an endless response, compressed or not, and closes its connection', async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<undefined>()
    const endless = await serve((_request, response) => {
      response.on('close', () => close(undefined))
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      }
      response.on('drain', write)
      write()
    })
    const few = createGuardedFetch({ ...local, maxBytes: 1_000_000 })
    await expect((await few(endless)).text()).rejects.toMatchObject({ code: 'too_large' })
    await closed
    const bomb = await serve(html(gzipSync(Buffer.alloc(5_000_000)), { 'content-encoding': 'gzip' }))
    await expect((await few(bomb)).text()).rejects.toMatchObject({ code: 'too_large' })
  })

  test('closes the connection of a response with an unknown encoding', async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<undefined>()
    const origin = await serve((_request, response) => {
      response.on('close', () => close(undefined))
      response.writeHead(200, { 'content-encoding': 'unheard-of' }).flushHeaders()
    })
    await expect(createGuardedFetch(local)(origin)).rejects.toMatchObject({ code: 'unsupported_type' })
    await closed
  })

  test('does not wait for a resolver that never answers', async () => {
    const stopping = new AbortController()
    const never = () => new Promise<string[]>(() => undefined)
    const asked = createGuardedFetch({ resolve: never })('http://slow.test/', { signal: stopping.signal })
    stopping.abort(new Error('enough'))
    await expect(asked).rejects.toThrow('enough')
  })
})
