/** Clients that ask for large answers and do not read them, on real sockets. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { AppError } from '#server/base/errors.ts'
import { identifySession, runAsCaller } from '#server/base/caller.ts'
import { createLog } from '#server/base/log.ts'
import type { AccessWatch } from './access-watch.ts'
import { logAccess } from './access-log.ts'
import { createUnsentAnswers, type UnsentLimits } from './unsent-answers.ts'

const MEGABYTE = 1024 * 1024
/** More than the buffers of the system take. */
const LARGE = 'x'.repeat(24 * MEGABYTE)
const GET_LARGE = 'GET /large HTTP/1.1\r\nHost: here\r\n\r\n'

async function start(limits: Partial<UnsentLimits>) {
  const unsent = createUnsentAnswers(limits)
  const app = new Hono()
  app.onError((error, context) => {
    if (!(error instanceof AppError)) throw error
    return context.json({ code: error.code, ...error.details }, error.code === 'rate_limited' ? 429 : 500)
  })
  app.use(logAccess(createLog('silent'), 1))
  app.use(unsent.limit)
  app.get('/large', (context) => context.text(LARGE))
  app.get('/small', (context) => context.text('small'))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await once(server, 'listening')
  onTestFinished(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const ask = (path: string, from = '192.0.2.1') =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-forwarded-for': from } })

  /** Asks, reads the beginning, and then no more. */
  async function askWithoutReading(from = '192.0.2.1', times = 1): Promise<Socket> {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    socket.write(GET_LARGE.replace('\r\n\r\n', `\r\nX-Forwarded-For: ${from}\r\n\r\n`).repeat(times))
    await once(socket, 'readable')
    return socket
  }
  return { unsent, ask, askWithoutReading }
}

test('a caller with unread answers gets no further one until they are read; others do', async () => {
  const { ask, askWithoutReading } = await start({ bytesPerCaller: 30 * MEGABYTE })
  const unread = [await askWithoutReading(), await askWithoutReading()]
  const refused = await ask('/small')
  expect([refused.status, await refused.json()]).toEqual([429, { code: 'rate_limited', retryAfterS: 5 }])
  expect((await ask('/small', '192.0.2.2')).status).toBe(200)
  for (const socket of unread) {
    socket.resume()
    let received = 0
    while (received < LARGE.length) received += ((await once(socket, 'data')) as [Buffer])[0].length
  }
  expect((await ask('/small')).status).toBe(200)
})

test('past twice its share, the connection of a caller is closed', async () => {
  const { unsent, askWithoutReading } = await start({ bytesPerCaller: 10 * MEGABYTE })
  const pipelined = await askWithoutReading('192.0.2.1', 4)
  await once(pipelined.resume(), 'close')
  expect(unsent.bytes()).toBe(0)
})

test('past the total, the oldest answer of the caller who holds most is closed', async () => {
  const { unsent, ask, askWithoutReading } = await start({ bytes: 60 * MEGABYTE })
  const first = await askWithoutReading('192.0.2.1')
  const other = await askWithoutReading('192.0.2.2')
  await askWithoutReading('192.0.2.1')
  await once(first.resume(), 'close')
  expect(unsent.bytes()).toBeLessThan(60 * MEGABYTE)
  expect(other.destroyed).toBe(false)
  expect((await ask('/small', '192.0.2.2')).status).toBe(200)
})

test('a connection that takes nothing for too long is closed', async () => {
  const { unsent, askWithoutReading } = await start({ stalledMs: 300 })
  const stalled = await askWithoutReading()
  stalled.pause()
  while (unsent.bytes() > 0) await new Promise(setImmediate)
  await once(stalled.resume(), 'close')
})

test('answers that are read are never refused', async () => {
  const { ask } = await start({ bytesPerCaller: 30 * MEGABYTE })
  for (let times = 0; times < 4; times += 1) expect((await (await ask('/large')).text()).length).toBe(LARGE.length)
})

test('an answer that waits is broken off with its session, and with the rights of its person', async () => {
  const watched: Parameters<AccessWatch['watch']>[] = []
  let left = 0
  const unsent = createUnsentAnswers(
    {},
    {
      watch(...given) {
        watched.push(given)
        left += 1
        return () => void (left -= 1)
      },
    },
  )
  const app = new Hono()
  app.use(unsent.limit)
  app.get('/large', (context) => {
    identifySession({ person: 'ann', sessionId: 'first' })
    return context.text(LARGE)
  })
  const server = serve({
    fetch: (request, env) => runAsCaller('192.0.2.1', () => app.fetch(request, env)),
    port: 0,
    hostname: '127.0.0.1',
  })
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(GET_LARGE)
  await once(socket, 'readable')
  while (watched.length === 0) await new Promise(setImmediate)
  const [[person, entry] = []] = watched
  expect([person, entry?.sessionId, await entry?.isAllowed()]).toEqual(['ann', 'first', false])
  entry?.onLost()
  await once(socket.resume(), 'close')
  expect([unsent.bytes(), left]).toEqual([0, 0])
})
