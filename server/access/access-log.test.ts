import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { renderApiError } from '#server/api/render-error.ts'
import { createLog } from '#server/base/log.ts'
import { logAccess } from './access-log.ts'

const line = z.looseObject({ requestId: z.string(), msg: z.string() })
const UUID = /^[\da-f-]{36}$/

function createLoggedApp(trustProxy = 0) {
  const lines: z.infer<typeof line>[] = []
  const log = createLog('info', { write: (text) => lines.push(line.parse(JSON.parse(text))) })
  const app = new Hono()
  app.onError(renderApiError(log))
  app.use(logAccess(log, trustProxy))
  app.get('/healthz', (context) => context.text('ok'))
  app.get('/api/:id', (context) => context.text('here'))
  app.get('/api/:id/broken', () => {
    throw new Error('a fault')
  })
  app.get('/api/:id/warned', (context) => {
    setImmediate(() => log.warn('something is odd'))
    return context.text('here')
  })
  app.get('/storage/v1/object/*', (context) => context.text('bytes'))
  return { app, lines }
}

test('logs one line per request, without the query string', async () => {
  const { app, lines } = createLoggedApp()
  const response = await app.request('/api/7?token=secret')
  const requestId = response.headers.get('x-request-id')
  expect(requestId).toMatch(UUID)
  expect(lines).toMatchObject([{ requestId, method: 'GET', path: '/api/7', status: 200, msg: 'request' }])
  expect(lines[0]?.['durationMs']).toBeTypeOf('number')
  expect(JSON.stringify(lines)).not.toContain('secret')
})

test('names the id in the error body and in the log line of a failure', async () => {
  const { app, lines } = createLoggedApp()
  const response = await app.request('/api/7/broken')
  const requestId = response.headers.get('x-request-id')
  expect(await response.json()).toEqual({
    error: { code: 'internal', message: 'Something went wrong on our side.', requestId },
  })
  expect(lines).toMatchObject([
    { requestId, msg: 'a request failed' },
    { requestId, msg: 'request', status: 500 },
  ])
})

test('names the id in every line that a request causes, also once it is answered', async () => {
  const { app, lines } = createLoggedApp()
  const [first, second] = await Promise.all([app.request('/api/7/warned'), app.request('/api/8/warned')])
  await expect.poll(() => lines.filter(({ msg }) => msg === 'something is odd')).toHaveLength(2)
  const ids = lines.filter(({ msg }) => msg === 'something is odd').map(({ requestId }) => requestId)
  expect(new Set(ids)).toEqual(new Set([first, second].map(({ headers }) => headers.get('x-request-id'))))
})

test.each([
  [1, 'from-the-proxy.1', 'from-the-proxy.1'],
  [1, 'two words', UUID],
  [1, 'x'.repeat(129), UUID],
  [0, 'from-the-client', UUID],
])('with %i trusted proxies, the header "%s" leads to %s', async (trustProxy, given, expected) => {
  const { app } = createLoggedApp(trustProxy)
  const response = await app.request('/api/7', { headers: { 'x-request-id': given } })
  expect(response.headers.get('x-request-id')).toMatch(expected)
})

test('logs no file names, and no requests of monitoring', async () => {
  const { app, lines } = createLoggedApp()
  await app.request('/storage/v1/object/documents/My%20diagnosis.pdf')
  await app.request('/healthz')
  expect(lines).toMatchObject([{ path: '/storage/v1/object/…' }])
})
