import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Hono } from 'hono'
import { expect, test, vi } from 'vitest'
import { AppError } from '#server/base/errors.ts'
import { runAsCaller, streamBody } from '#server/base/caller.ts'
import { isRefusedTurn } from '#server/database/admission.ts'
import type { CallerUsage } from '#server/database/caller-usage.ts'
import { takeTurns } from './request-turns.ts'
import type { TokenVerifier } from './tokens.ts'

const EXP = 4_000_000_000

/** A token is the id of its person, or the name of a role. */
const tokens: TokenVerifier = {
  verify: (token) => {
    if (token === 'wrong') return Promise.reject(new AppError('unauthenticated', 'Sign in first.'))
    const role = token === 'service_role' || token === 'anon' ? token : 'authenticated'
    return Promise.resolve({ role, exp: EXP, ...(role === 'authenticated' ? { sub: token } : {}) })
  },
}
const usageOf = (isOverdrawn: (caller: string) => boolean): CallerUsage => ({
  begin: () => undefined,
  end: () => undefined,
  isOverdrawn,
  hasOthers: () => true,
})

interface Ask {
  readonly token?: string
  readonly address?: string
  readonly body?: string
  readonly outgoing?: ServerResponse
}

/** A service whose requests begin in `begun`, and end when their name is given to `finish`. */
function open(usage: CallerUsage, { streams = false, readBusyMs = (): number => 0 } = {}) {
  const takeTurn = takeTurns(tokens, { sessionCookie: 'alcove-session', usage, readBusyMs })
  const begun: string[] = []
  const running = new Map<string, PromiseWithResolvers<undefined>>()
  const app = new Hono()
  app.onError((error, context) =>
    isRefusedTurn(error) ? context.text(error.message, 429) : context.text(error.message, 500),
  )
  // A request may pass the middleware of two routers.
  app.use(takeTurn)
  app.use(takeTurn)
  app.all('/:name', async (context) => {
    const name = context.req.param('name')
    begun.push(name)
    if (streams) streamBody()
    const end = Promise.withResolvers<undefined>()
    running.set(name, end)
    await end.promise
    return context.text(name)
  })
  return {
    begun,
    finish: (name: string) => running.get(name)?.resolve(undefined),
    ask: (name: string, { token, address = '192.0.2.1', body, outgoing }: Ask = {}) =>
      runAsCaller(address, async () => {
        const headers = {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-length': String(body.length) }),
        }
        const init = body === undefined ? { headers } : { headers, method: 'POST', body }
        return app.request(`/${name}`, init, { outgoing })
      }),
  }
}

/** Lets every request that may begin do so. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

const FREE = usageOf(() => false)

test('a caller who used much begins one request at a time, and others begin meanwhile', async () => {
  const { ask, begun, finish } = open(usageOf((caller) => caller === 'greedy'))
  const asked = ['greedy 1', 'greedy 2', 'greedy 3'].map((name) => ask(name, { token: 'greedy' }))
  asked.push(...['other 1', 'other 2'].map((name) => ask(name, { token: 'other' })))
  await settled()
  expect(begun).toEqual(['greedy 1', 'other 1', 'other 2'])
  finish('greedy 1')
  await settled()
  expect(begun.slice(3)).toEqual(['greedy 2'])
  finish('greedy 2')
  await settled()
  for (const name of ['greedy 3', 'other 1', 'other 2']) finish(name)
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
})

test('a request without a valid token counts for its address, and programs with the service key are not limited', async () => {
  const { ask, begun, finish } = open(usageOf(() => true))
  const asks: [string, Ask][] = [
    ['without 1', {}],
    ['without 2', { token: 'wrong' }],
    ['without 3', { token: 'anon' }],
    ['elsewhere', { address: '192.0.2.2' }],
    ['program 1', { token: 'service_role' }],
    ['program 2', { token: 'service_role' }],
  ]
  const asked = asks.map(([name, options]) => ask(name, options))
  await settled()
  expect(begun.toSorted()).toEqual(['elsewhere', 'program 1', 'program 2', 'without 1'])
  for (const name of ['elsewhere', 'program 1', 'program 2', 'without 1', 'without 2', 'without 3']) {
    finish(name)
    await settled()
  }
  await Promise.all(asked)
})

test('a request that takes long gives its turn to the next', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { ask, begun, finish } = open(usageOf(() => true))
    const asked = ['long', 'next'].map((name) => ask(name, { token: 'greedy' }))
    await settled()
    vi.advanceTimersByTime(99)
    await settled()
    expect(begun).toEqual(['long'])
    vi.advanceTimersByTime(1)
    await settled()
    expect(begun).toEqual(['long', 'next'])
    finish('long')
    finish('next')
    await Promise.all(asked)
  } finally {
    vi.useRealTimers()
  }
})

test('a caller who used much leaves most of the time to others: the next request waits as the thread was busy', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    let [busyMs, isOverdrawn] = [1_000, true]
    const { ask, begun, finish } = open(
      usageOf(() => isOverdrawn),
      { readBusyMs: () => busyMs },
    )
    const asked = ['one', 'two', 'three'].map((name) => ask(name, { token: 'greedy' }))
    await settled()
    busyMs += 10
    finish('one')
    await settled()
    vi.advanceTimersByTime(39)
    await settled()
    expect(begun).toEqual(['one'])
    vi.advanceTimersByTime(1)
    await settled()
    expect(begun).toEqual(['one', 'two'])
    isOverdrawn = false
    busyMs += 10
    finish('two')
    await settled()
    expect(begun).toEqual(['one', 'two', 'three'])
    finish('three')
    await Promise.all(asked)
  } finally {
    vi.useRealTimers()
  }
})

test('a turn lasts until its response is sent', async () => {
  const { ask, begun, finish } = open(usageOf(() => true))
  const outgoing = new ServerResponse(new IncomingMessage(new Socket()))
  const first = ask('sent slowly', { token: 'greedy', outgoing })
  const next = ask('next', { token: 'greedy' })
  await settled()
  finish('sent slowly')
  await first
  expect(begun).toEqual(['sent slowly'])
  outgoing.destroy()
  await settled()
  expect(begun).toEqual(['sent slowly', 'next'])
  finish('next')
  await next
})

test('bodies of one caller that wait in memory are few; more wait unread, and too many are refused', async () => {
  const { ask, begun, finish } = open(FREE)
  const names = Array.from({ length: 33 + 250 }, (_, index) => `body ${index}`)
  const asked = names.map((name) => ask(name, { token: 'greedy', body: 'x' }))
  const [other, withoutBody] = [ask('other', { token: 'other', body: 'x' }), ask('no body', { token: 'greedy' })]
  await settled()
  expect(begun).toHaveLength(32 + 2)
  expect(begun).toEqual(expect.arrayContaining(['other', 'no body']))
  expect((await asked.at(-1))?.status).toBe(429)
  for (const name of names.slice(0, -1)) {
    finish(name)
    await settled()
  }
  finish('other')
  finish('no body')
  const statuses = (await Promise.all([...asked, other, withoutBody])).map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200)).toEqual([429])
})

test('bodies that go on in parts hold no place', async () => {
  const { ask, begun, finish } = open(FREE, { streams: true })
  const names = Array.from({ length: 60 }, (_, index) => `upload ${index}`)
  const asked = names.map((name) => ask(name, { token: 'uploader', body: 'x' }))
  await settled()
  await settled()
  expect(begun).toHaveLength(60)
  names.forEach(finish)
  await Promise.all(asked)
})
