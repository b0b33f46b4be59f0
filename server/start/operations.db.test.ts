import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { additions, phases } from '#server/base/tracing.ts'
import { readConfig } from '#server/config.ts'
import type { Queue } from '#server/telemetry/gauges.ts'
import { SUMS } from '#server/telemetry/instruments.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { createOperationsRoutes } from './operations.ts'

const TOKEN = 'metrics-token-of-this-test'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** Serves the routes as a server with this environment does. */
async function serveWith(
  environment: Record<string, string>,
  readQueues: () => Promise<readonly Queue[]> = () => Promise.resolve([]),
) {
  const config = readConfig(environment)
  const routes = createOperationsRoutes({
    database: database.database,
    anonKey: '',
    publicUrl: config.PUBLIC_URL,
    metricsToken: config.METRICS_TOKEN,
    hasNoProxy: config.hasNoProxy,
    testAccount: null,
    requiresSecondFactor: false,
    hasTextMessages: false,
    hasPublicLinks: false,
    hasMailbox: false,
    gauges: { alcove_example: { help: 'An example.', read: () => 7 } },
    readQueues,
    log: createLog('silent'),
  })
  const port = await new Promise<number>((resolve) => {
    server = serve({ fetch: routes.fetch, hostname: '127.0.0.1', port: 0 }, (address) => resolve(address.port))
  })
  return {
    read: (headers: Record<string, string> = {}) =>
      new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
        const sent = request({ host: '127.0.0.1', port, path: '/metrics', headers }, (answer) => {
          text(answer).then((body) => resolve({ status: answer.statusCode, body }), reject)
        })
        sent.on('error', reject).end()
      }),
    [Symbol.dispose]: () => server?.close(),
  }
}
let server: ReturnType<typeof serve> | undefined

test('metrics are shown to this machine while no proxy is announced', async () => {
  using local = await serveWith({})
  expect(await local.read()).toMatchObject({ status: 200, body: expect.stringContaining('alcove_example 7') as string })
})

test.each([{ PUBLIC_URL: 'https://alcove.example' }, { HOST: '0.0.0.0' }, { TRUST_PROXY: '1' }])(
  'with %o a request that looks local, as a proxy that rewrites Host makes it, gets no metrics',
  async (environment: Record<string, string>) => {
    using served = await serveWith(environment)
    for (const host of ['localhost', '127.0.0.1:3000', '[::1]', 'alcove.example'])
      expect(await served.read({ host })).toMatchObject({ status: 404, body: expect.not.stringContaining('alcove_') as string }) // prettier-ignore
  },
)

test('metrics with a token are for its bearer alone, wherever the request comes from', async () => {
  using served = await serveWith({ PUBLIC_URL: 'https://alcove.example', METRICS_TOKEN: TOKEN })
  const bearer = (token: string) => ({ host: 'alcove.example', authorization: `Bearer ${token}` })
  expect(await served.read({ ...bearer(TOKEN), 'x-forwarded-for': '203.0.113.9' })).toMatchObject({ status: 200 })
  for (const wrong of [`${TOKEN}x`, TOKEN.slice(1), TOKEN.toUpperCase(), 'undefined', '', `${TOKEN} ${TOKEN}`])
    expect(await served.read(bearer(wrong)), wrong).toMatchObject({ status: 401 })
  expect(await served.read({ host: 'localhost' })).toMatchObject({ status: 401 })
  expect(await served.read({ authorization: `Basic ${TOKEN}` })).toMatchObject({ status: 401 })
})

test('metrics of the process are there while the database is away, without figures of queues', async () => {
  let isAway = false
  const queue = { queue: 'replies', waiting: 3, running: 1, oldestWaitsS: 2 }
  using local = await serveWith({}, () =>
    isAway ? Promise.reject(new Error('the connection ended')) : Promise.resolve([queue]),
  )
  const waits = 'alcove_queue_waiting{queue="replies"} 3'
  const read = async () => {
    const { status, body } = await local.read()
    return { status, lines: body.split('\n') }
  }
  expect(await read()).toMatchObject({
    status: 200,
    lines: expect.arrayContaining([waits, 'alcove_queues_unread 0']) as string[],
  })
  isAway = true
  const away = await read()
  expect(away).toMatchObject({
    status: 200,
    lines: expect.arrayContaining(['alcove_example 7', 'alcove_queues_unread 1']) as string[],
  })
  expect(away.lines.filter((line) => line.startsWith('alcove_queue_waiting'))).toEqual([])
  isAway = false
  expect((await read()).lines).toEqual(expect.arrayContaining([waits, 'alcove_queues_unread 0']))
})

test('numbers that no counter takes, as a model server may report them, neither throw nor are recorded', async () => {
  using local = await serveWith({})
  await local.read()
  const [[name, sum] = []] = Object.entries(SUMS)
  if (name === undefined || sum === undefined) throw new Error('there is no sum')
  const labels = { [sum.label]: 'of-this-test' }
  for (const value of [-1, Number.NaN, Infinity, -Infinity, 0, 2]) {
    additions.publish({ name, labels, value })
    phases.publish({ name: 'of-this-test', ms: value })
  }
  const { body } = await local.read()
  const lines = body.split('\n').filter((line) => line.includes('of-this-test'))
  expect(lines).toContain(`${sum.name.replaceAll('.', '_')}_total{${sum.label}="of-this-test"} 2`)
  expect(lines.filter((line) => /(NaN|Inf|-\d\S*)$/.test(line))).toEqual([])
})
