/** Limits of sockets, and readers and senders that cost memory. */
import { once } from 'node:events'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import type { Tokens } from '#server/access/tokens.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import {
  createRecorder,
  createTestTokens,
  openRawSocket,
  type RealtimeNode,
  startNode,
  tokenOf,
} from '#test/realtime.ts'
import { DEFAULT_LIMITS, type RealtimeLimits, type TrafficLimits } from './limits.ts'
import { createTraffic } from './traffic.ts'

const KIB = 1024
const MIB = 1024 * KIB

let database: TestDatabase
let tokens: Tokens

beforeAll(async () => {
  database = await createTestDatabase()
  tokens = await createTestTokens()
})
afterAll(async () => {
  await database.drop()
})

async function nodeWith(
  limits: Partial<RealtimeLimits>,
  { trustProxy = 0, ...options }: { trustProxy?: number; allowsPublicChannels?: boolean } = {},
): Promise<RealtimeNode> {
  const node = await startNode(database, tokens, { limits, trustProxy, ...options })
  onTestFinished(() => node.close())
  return node
}

const openSocket = (node: RealtimeNode) => openRawSocket(node, tokens.anonKey)
type RawSocket = Awaited<ReturnType<typeof openSocket>>

async function join({ say, frames }: RawSocket, name: string): Promise<void> {
  say('1', name, `realtime:${name}`, 'phx_join', {})
  expect((await frames.next())[4]).toMatchObject({ status: 'ok' })
}

/** The broadcasts that reach a socket; each is a binary frame. */
function broadcastsTo(ws: WebSocket) {
  const heard = createRecorder<number>()
  ws.on('message', (data: Buffer, isBinary) => {
    if (isBinary) heard.add(data.length)
  })
  return heard
}

const closeOf = async (ws: WebSocket): Promise<number> =>
  z.tuple([z.number(), z.unknown()]).parse(await once(ws, 'close'))[0]

const TOO_FAST = { extension: 'system', status: 'error', message: 'Too many messages per second' }

test('an address opens sockets up to its limit, until it closes one', async () => {
  const node = await nodeWith({ socketsPerAddress: 2 })
  const [first] = [await openSocket(node), await openSocket(node)]
  // No proxy is trusted, so the header has no effect.
  const forged = openRawSocket(node, tokens.anonKey, { 'x-forwarded-for': '203.0.113.9' })
  await expect(forged).rejects.toThrow('Unexpected server response: 429')
  const together = await Promise.allSettled([openSocket(node), openSocket(node), openSocket(node)])
  expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  first.ws.close()
  await expect.poll(() => node.realtime.stats().sockets).toBe(1)
  const again = await Promise.allSettled([openSocket(node), openSocket(node), openSocket(node)])
  expect(again.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('people behind one proxy are counted separately, and an IPv6 network as one', async () => {
  const node = await nodeWith({ socketsPerAddress: 1 }, { trustProxy: 1 })
  const from = (address: string) => openRawSocket(node, tokens.anonKey, { 'x-forwarded-for': address })
  await from('203.0.113.9')
  await from('203.0.113.10')
  await from('2001:db8::1')
  for (const address of ['203.0.113.9', '2001:db8::2'])
    await expect(from(address)).rejects.toThrow('Unexpected server response: 429')
})

test('the many networks of one IPv6 customer share limits eight times as large', async () => {
  const node = await nodeWith({ socketsPerAddress: 1 }, { trustProxy: 1 })
  const from = (address: string) => openRawSocket(node, tokens.anonKey, { 'x-forwarded-for': address })
  const sockets = await Promise.all(Array.from({ length: 8 }, (_, network) => from(`2001:db8:1:${network}::1`)))
  await expect(from('2001:db8:1:8::1')).rejects.toThrow('Unexpected server response: 429')
  await from('2001:db8:2::1')
  sockets[0]?.ws.close()
  await expect.poll(() => node.realtime.stats().sockets).toBe(8)
  await from('2001:db8:1:8::1')

  const single = { perSecond: 0, burst: 1 }
  const traffic = createTraffic({
    ...DEFAULT_LIMITS.traffic,
    perAddress: { messages: single, bytes: single, joins: single },
    heldPerAddress: { channels: 1, bindings: 1, presenceBytes: 1 },
  })
  const claims = { role: 'anon' as const, exp: 1 }
  const keys = Array.from({ length: 9 }, (_, network) => `2001:db8:1:${network}::/64`)
  const eight = [...Array<boolean>(8).fill(true), false]
  expect(keys.map((address) => traffic.spend({ address, claims }, { messages: 1 }))).toEqual(eight)
  expect(keys.map((address) => traffic.hold(address, { channels: 1 }))).toEqual(eight)
  traffic.release('2001:db8:1:0::/64', { channels: 1 })
  expect(traffic.hold('2001:db8:1:8::/64', { channels: 1 })).toBe(true)
  expect(traffic.hold('2001:db8:2:0::/64', { channels: 1 })).toBe(true)
})

test('more channels than allowed are rejected', async () => {
  const { frames, say } = await openSocket(await nodeWith({ channelsPerSocket: 3 }))
  for (const name of ['a', 'b', 'c', 'd']) say('1', name, `realtime:${name}`, 'phx_join', {})
  const answers = [await frames.next(), await frames.next(), await frames.next(), await frames.next()]
  expect(answers.map((answer) => answer[4]['status'])).toEqual(['ok', 'ok', 'ok', 'error'])
  expect(answers[3]?.[4]['response']).toEqual({ reason: 'ChannelRateLimitReached: Too many channels' })
})

test('more joins in a second than allowed are rejected, and later ones are not', async () => {
  const socket = await openSocket(await nodeWith({ joinsPerSecond: 5 }))
  // Enough for two seconds, in case the burst spans both.
  const names = Array.from({ length: 20 }, (_, n) => `n${n}`)
  for (const name of names) socket.say('1', name, `realtime:${name}`, 'phx_join', {})
  const answers = new Map<unknown, unknown>()
  for (const _ of names) {
    const [, ref, , , { status, response }] = await socket.frames.next()
    answers.set(ref, status === 'error' ? response : status)
  }
  expect(answers.get('n0')).toBe('ok')
  expect(answers.get('n19')).toEqual({ reason: 'ClientJoinRateLimitReached: Too many joins per second' })
  await expect
    .poll(async () => {
      socket.say('1', 'late', 'realtime:late', 'phx_join', {})
      return (await socket.frames.next())[4]
    })
    .toMatchObject({ status: 'ok' })
})

/** Joins with a binding for each filter; returns the system message. */
async function subscribe({ say, frames }: RawSocket, name: string, filters: readonly string[], token: string) {
  const postgres_changes = filters.map((filter) => ({ event: '*', schema: 'public', table: 'messages', filter }))
  say('1', name, `realtime:${name}`, 'phx_join', { config: { postgres_changes }, access_token: token })
  expect((await frames.next())[4]).toMatchObject({ status: 'ok' })
  return (await frames.next())[4]
}

test('a socket has different filters up to its limit; equal ones count once, and leaving makes room', async () => {
  const socket = await openSocket(await nodeWith({ filtersPerSocket: 3 }))
  const token = await tokenOf(tokens, await database.createPerson())
  const live = { status: 'ok' }
  expect(await subscribe(socket, 'a', ['content=eq.1', 'content=eq.2'], token)).toMatchObject(live)
  expect(await subscribe(socket, 'b', ['content=eq.2', 'content=eq.3', 'content=eq.1'], token)).toMatchObject(live)
  expect(await subscribe(socket, 'c', ['content=eq.4'], token)).toEqual({
    extension: 'postgres_changes',
    status: 'error',
    message: 'Too many filters on one connection: at most 3 different ones',
    channel: 'c',
  })
  socket.say('1', '9', 'realtime:b', 'phx_leave')
  await socket.frames.next()
  await socket.frames.next()
  expect(await subscribe(socket, 'd', ['content=eq.4'], token)).toMatchObject(live)
})

test('a person has filters up to a limit over all sockets, and others are not affected', async () => {
  const node = await nodeWith({ filtersPerPerson: 2 })
  const [person, other] = [await database.createPerson(), await database.createPerson()]
  const token = await tokenOf(tokens, person)
  const live = { status: 'ok' }
  const [first, second] = [await openSocket(node), await openSocket(node)]
  expect(await subscribe(first, 'a', ['content=eq.1', 'content=eq.2'], token)).toMatchObject(live)
  expect(await subscribe(second, 'b', ['content=eq.3'], token)).toMatchObject({
    status: 'error',
    message: 'Too many filters of one user: at most 2 different ones on all connections',
  })
  expect(await subscribe(second, 'c', ['content=eq.3'], await tokenOf(tokens, other))).toMatchObject(live)
  first.ws.close()
  await expect.poll(() => node.realtime.stats().channels).toBe(2)
  expect(await subscribe(second, 'd', ['content=eq.3'], token)).toMatchObject(live)
})

test('a join whose filters take too much work to check subscribes to nothing', async () => {
  const socket = await openSocket(await nodeWith({ filterStepsPerChange: 10 }))
  const token = await tokenOf(tokens, await database.createPerson())
  expect(await subscribe(socket, 'a', ['content=match.a{0,200}'], token)).toMatchObject({
    status: 'error',
    message: 'the filters take too much work to check',
  })
})

test('a channel that sends too many messages is closed', async () => {
  const socket = await openSocket(await nodeWith({ eventsPerSecond: 20 }))
  await join(socket, 'flood')
  for (let n = 0; n < 60; n += 1) socket.say('1', `${n}`, 'realtime:flood', 'broadcast', { event: 'e', payload: {} })
  expect((await socket.frames.next())[4]).toMatchObject(TOO_FAST)
  expect((await socket.frames.next()).slice(2, 4)).toEqual(['realtime:flood', 'phx_close'])
})

test('a channel that changes its presence too often is closed, and another of its socket is not', async () => {
  const socket = await openSocket(await nodeWith({ presenceCalls: 5 }))
  await join(socket, 'busy')
  await join(socket, 'calm')
  const track = (topic: string, ref: string) =>
    socket.say('1', ref, topic, 'presence', { type: 'presence', event: 'track', payload: { n: ref } })
  for (let n = 0; n < 6; n += 1) track('realtime:busy', `${n}`)
  const answers = [await socket.frames.next(), await socket.frames.next(), await socket.frames.next()]
  answers.push(await socket.frames.next(), await socket.frames.next())
  expect(answers.map(([, ref, , , { status }]) => [ref, status])).toEqual(
    ['0', '1', '2', '3', '4'].map((n) => [n, 'ok']),
  )
  expect((await socket.frames.next())[4]).toMatchObject(TOO_FAST)
  expect((await socket.frames.next()).slice(2, 4)).toEqual(['realtime:busy', 'phx_close'])
  track('realtime:calm', '7')
  expect((await socket.frames.next())[4]).toMatchObject({ status: 'ok' })
})

test.each([
  ['a broadcast', 'broadcast', { event: 'e', payload: { text: 'x'.repeat(65 * KIB) } }],
  ['a presence', 'presence', { event: 'track', payload: { text: 'x'.repeat(65 * KIB) } }],
  ['a presence of wide characters', 'presence', { event: 'track', payload: { text: '€'.repeat(22 * KIB) } }],
])('%s that is too large is rejected', async (_, event, payload) => {
  const socket = await openSocket(await nodeWith(event === 'broadcast' ? { payloadBytes: 64 * KIB } : {}))
  await join(socket, 'large')
  socket.say('1', '2', 'realtime:large', event, payload)
  expect(await socket.frames.next()).toEqual([
    '1',
    '2',
    'realtime:large',
    'phx_reply',
    { status: 'error', response: { reason: 'Payload size exceeds the limit' } },
  ])
})

test('a frame that is too large closes the socket', async () => {
  const { ws, say } = await openSocket(await nodeWith({ frameBytes: 64 * KIB }))
  say('1', '1', 'realtime:large', 'phx_join', { text: 'x'.repeat(65 * KIB) })
  expect(await closeOf(ws)).toBe(1009)
})

test('a reader that reads nothing is disconnected, and another one receives everything', async () => {
  const bufferedBytes = 256 * KIB
  const node = await nodeWith({ bufferedBytes })
  const [stuck, reader] = [await openSocket(node), await openSocket(node)]
  for (const socket of [stuck, reader]) await join(socket, 'room')
  const heard = broadcastsTo(reader.ws)
  stuck.ws.pause()
  const payload = JSON.stringify({ text: 'x'.repeat(MIB) })
  let mostBuffered = 0
  // The kernel buffers some tens of MiB for the silent reader before anything waits here.
  for (let n = 0; n < 200 && node.realtime.stats().sockets > 1; n += 1) {
    await database.database.asService((scope) => scope.query(`select realtime.send($1, 'e', 'room', false)`, [payload]))
    const length = await heard.next()
    mostBuffered = Math.max(mostBuffered, node.realtime.stats().bufferedBytes - bufferedBytes - length)
  }
  expect(node.realtime.stats()).toMatchObject({ sockets: 1, channels: 1 })
  // Each of the two may exceed the limit by one frame.
  expect(mostBuffered).toBeLessThanOrEqual(MIB + KIB)
  stuck.ws.resume()
  await once(stuck.ws, 'close')
})

test('a client that pings and does not read the replies is disconnected', async () => {
  const bufferedBytes = 64 * KIB
  const node = await nodeWith({ bufferedBytes })
  const { ws } = await openSocket(node)
  ws.on('error', () => undefined)
  ws.pause()
  const data = Buffer.alloc(125)
  let mostBuffered = 0
  for (let n = 0; n < 500 && node.realtime.stats().sockets > 0; n += 1) {
    for (let m = 0; m < 999; m += 1) ws.ping(data)
    await new Promise((resolve) => ws.ping(data, true, resolve))
    mostBuffered = Math.max(mostBuffered, node.realtime.stats().bufferedBytes)
  }
  await expect.poll(() => node.realtime.stats().sockets).toBe(0)
  expect(mostBuffered).toBeLessThanOrEqual(bufferedBytes + KIB)
})

test('reading from a sender pauses while the database is blocked, and nothing is lost', async () => {
  const unhandledBytes = 2 * MIB
  const node = await nodeWith({ unhandledBytes })
  const [sender, reader] = [await openSocket(node), await openSocket(node)]
  for (const socket of [sender, reader]) await join(socket, 'room')
  const heard = broadcastsTo(reader.ws)
  const { rows } = await database.admin.query<{ definition: string }>(
    `select pg_get_functiondef('realtime.ring'::regproc) as definition`,
  )
  const definition = rows[0]?.definition ?? ''
  expect(definition).toContain('begin\n')
  await database.admin.query(definition.replace('begin\n', 'begin\nperform pg_advisory_xact_lock_shared(1);\n'))
  onTestFinished(async () => {
    await database.admin.query(definition)
  })
  const operator = await database.admin.connect()
  onTestFinished(() => operator.release())
  await operator.query('begin')
  await operator.query('select pg_advisory_xact_lock(1)')
  const payload = { text: 'x'.repeat(MIB) }
  for (let n = 0; n < 30; n += 1) sender.say('1', `${n}`, 'realtime:room', 'broadcast', { event: 'e', payload })
  await expect.poll(() => node.realtime.stats().unhandledBytes).toBeGreaterThan(unhandledBytes)
  let mostUnhandled = 0
  for (let n = 0; n < 50; n += 1) {
    reader.say(null, `${n}`, 'phoenix', 'heartbeat')
    await reader.frames.next()
    mostUnhandled = Math.max(mostUnhandled, node.realtime.stats().unhandledBytes)
  }
  // The frame over the limit and those before it, each counted as a frame and as a broadcast.
  expect(mostUnhandled).toBeLessThanOrEqual(2 * unhandledBytes + 2 * MIB)
  await operator.query('rollback')
  for (let n = 0; n < 30; n += 1) expect(await heard.next()).toBeGreaterThan(MIB)
  await expect.poll(() => node.realtime.stats().unhandledBytes).toBe(0)
})

const UNREFILLED = { perSecond: 0, burst: 1_000_000 }
const unlimited = { messages: UNREFILLED, bytes: { perSecond: 0, burst: 1_000 * MIB }, joins: UNREFILLED }
const withTraffic = (traffic: Partial<TrafficLimits>): Partial<RealtimeLimits> => ({
  traffic: { ...DEFAULT_LIMITS.traffic, perAddress: unlimited, perPerson: unlimited, ...traffic },
})
const broadcastOver = (node: RealtimeNode, apikey: string, messages: readonly unknown[], from = '203.0.113.9') =>
  fetch(`http://127.0.0.1:${node.port}/realtime/v1/api/broadcast`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', apikey, 'x-forwarded-for': from },
    body: JSON.stringify({ messages }),
  })
const message = { topic: 'room', event: 'e', payload: {} }

test.each([
  ['messages', { ...unlimited, messages: { perSecond: 0, burst: 3 } }, {}],
  ['bytes', { ...unlimited, bytes: { perSecond: 0, burst: 3_500 } }, { text: 'x'.repeat(1_000) }],
])('the sockets and requests of an address share one budget of %s', async (_, perAddress, payload) => {
  const node = await nodeWith(withTraffic({ perAddress }), { trustProxy: 1 })
  const from = (address: string) => openRawSocket(node, tokens.anonKey, { 'x-forwarded-for': address })
  const sockets = [await from('203.0.113.9'), await from('203.0.113.9'), await from('203.0.113.10')] as const
  for (const socket of sockets) await join(socket, 'room')
  const send = ({ say }: RawSocket) => say('1', '2', 'realtime:room', 'broadcast', { event: 'e', payload })
  send(sockets[0])
  expect((await broadcastOver(node, tokens.anonKey, [{ ...message, payload }])).status).toBe(202)
  send(sockets[1])
  send(sockets[1])
  const closed = await sockets[1].frames.next()
  expect(closed[4]).toMatchObject(TOO_FAST)
  const rejected = await broadcastOver(node, tokens.anonKey, [{ ...message, payload }])
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '1'])
  expect((await broadcastOver(node, tokens.anonKey, [message], '203.0.113.10')).status).toBe(202)
  const service = await tokens.sign({ role: 'service_role', exp: Math.floor(Date.now() / 1000) + 60 })
  for (let n = 0; n < 5; n += 1) expect((await broadcastOver(node, service, [message])).status).toBe(202)
})

test('a person has one budget over all addresses', async () => {
  const node = await nodeWith(withTraffic({ perPerson: { ...unlimited, messages: { perSecond: 0, burst: 2 } } }), {
    trustProxy: 1,
  })
  const [person, other] = [await database.createPerson(), await database.createPerson()]
  const [key, otherKey] = [await tokenOf(tokens, person), await tokenOf(tokens, other)]
  const answers = [
    await broadcastOver(node, key, [message], '203.0.113.1'),
    await broadcastOver(node, key, [message], '203.0.113.2'),
    await broadcastOver(node, key, [message], '203.0.113.3'),
    await broadcastOver(node, otherKey, [message], '203.0.113.3'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 429, 202])
})

test('a budget refills with time', () => {
  vi.useFakeTimers({ now: 0 })
  onTestFinished(() => void vi.useRealTimers())
  const traffic = createTraffic({
    ...DEFAULT_LIMITS.traffic,
    perAddress: { ...unlimited, joins: { perSecond: 2, burst: 3 } },
  })
  const caller = { address: 'a', claims: { role: 'anon' as const, exp: 1 } }
  const joins = (count: number) => Array.from({ length: count }, () => traffic.spend(caller, { joins: 1 }))
  expect(joins(4)).toEqual([true, true, true, false])
  vi.setSystemTime(1_000)
  traffic.sweep()
  expect(joins(3)).toEqual([true, true, false])
})

test('the sockets of an address share one budget of joins', async () => {
  const node = await nodeWith(withTraffic({ perAddress: { ...unlimited, joins: { perSecond: 0, burst: 2 } } }))
  const [one, two] = [await openSocket(node), await openSocket(node)]
  await join(one, 'a')
  await join(two, 'b')
  two.say('1', '1', 'realtime:c', 'phx_join', {})
  expect((await two.frames.next())[4]).toMatchObject({
    status: 'error',
    response: { reason: 'ClientJoinRateLimitReached: Too many joins per second' },
  })
})

test('the sockets of an address share what they hold: channels, bindings and presences, until they leave', async () => {
  const heldPerAddress = { channels: 3, bindings: 2, presenceBytes: 100 }
  const node = await nodeWith(withTraffic({ heldPerAddress }))
  const [one, two] = [await openSocket(node), await openSocket(node)]
  const changes = { config: { postgres_changes: [{ event: '*', schema: 'public' }] } }
  const ask = async ({ say, frames }: RawSocket, topic: string, event: string, payload: unknown) => {
    say('1', 'x', `realtime:${topic}`, event, payload)
    for (;;) {
      const [, ref, , name, answer] = await frames.next()
      if (ref === 'x' && name === 'phx_reply') return answer
    }
  }
  const track = (size: number) => ({ event: 'track', payload: { text: 'x'.repeat(size - 11) } })
  expect(await ask(one, 'a', 'phx_join', changes)).toMatchObject({ status: 'ok' })
  expect(await ask(two, 'b', 'phx_join', changes)).toMatchObject({ status: 'ok' })
  expect(await ask(two, 'c', 'phx_join', changes)).toMatchObject({
    response: { reason: 'ChannelRateLimitReached: Too many channels from this address' },
  })
  expect(await ask(two, 'c', 'phx_join', {})).toMatchObject({ status: 'ok' })
  expect(await ask(one, 'd', 'phx_join', {})).toMatchObject({ status: 'error' })
  expect(await ask(one, 'a', 'presence', track(60))).toMatchObject({ status: 'ok' })
  expect(await ask(two, 'b', 'presence', track(60))).toMatchObject({
    response: { reason: 'The presences of this address are too large' },
  })
  expect(await ask(one, 'a', 'presence', track(90))).toMatchObject({ status: 'error' })
  expect(await ask(one, 'a', 'phx_leave', {})).toMatchObject({ status: 'ok' })
  expect(await ask(two, 'b', 'presence', track(90))).toMatchObject({ status: 'ok' })
  expect(await ask(one, 'd', 'phx_join', changes)).toMatchObject({ status: 'ok' })
})

test('names and lists of any size are rejected', async () => {
  const node = await nodeWith({})
  const socket = await openSocket(node)
  const reasonOf = async (payload: unknown) => {
    socket.say('1', '1', 'realtime:room', 'phx_join', payload)
    return z.object({ response: z.object({ reason: z.string() }) }).parse((await socket.frames.next())[4]).response
      .reason
  }
  expect(await reasonOf({ config: { presence: { key: 'k'.repeat(300) } } })).toContain('The presence key is too long')
  const filter = `title=in.(${Array(30_000).fill('word').join()})`
  const postgres_changes = [{ event: '*', schema: 'public', table: 'messages', filter }]
  expect(await reasonOf({ config: { postgres_changes, postgres_changes_options: { wait: true } } })).toContain(
    'The bindings of the channel are too large',
  )
  await join(socket, 'room')
  socket.say('1', '2', 'realtime:room', 'broadcast', { event: 'e'.repeat(300), payload: {} })
  expect((await socket.frames.next())[4]).toMatchObject({ response: { reason: 'The name of the event is too long' } })
  const long = [{ ...message, topic: 't'.repeat(300) }]
  expect((await broadcastOver(node, tokens.anonKey, long)).status).toBe(422)
  const many = Array<unknown>(1_001).fill(message)
  expect(await (await broadcastOver(node, tokens.anonKey, many)).json()).toEqual({
    errors: { messages: ['Send at most 1000 messages at a time'] },
  })
})

test('a request whose numbers would be written out as thousands of digits sends nothing', async () => {
  const node = await nodeWith({})
  for (const [path, body] of [
    ['', '{"messages": [{"topic": "room", "event": "e", "payload": {"a": 1e131071}}]}'],
    ['/room/events/e', '{"a": [1e-16383]}'],
    ['/room/events/e', `[${'1e300,'.repeat(5_000)}1]`],
  ] as const) {
    const response = await fetch(`http://127.0.0.1:${node.port}/realtime/v1/api/broadcast${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', apikey: tokens.anonKey },
      body,
    })
    expect(response.status, body.slice(0, 40)).toBe(422)
  }
})

test('where public channels are refused, they carry database changes only', async () => {
  const node = await nodeWith({}, { allowsPublicChannels: false })
  const { say, frames } = await openSocket(node)
  const refusal = { status: 'error', response: { reason: 'PrivateOnly: This project only allows private channels' } }
  const binding = { event: '*', schema: 'public', table: 'messages' }
  for (const config of [{}, { presence: { enabled: true }, postgres_changes: [binding] }]) {
    say('1', '1', 'realtime:room', 'phx_join', { config })
    expect((await frames.next())[4]).toEqual(refusal)
  }
  say('1', '1', 'realtime:room', 'phx_join', { config: { broadcast: { ack: true }, postgres_changes: [binding] } })
  expect((await frames.next())[4]).toMatchObject({ status: 'ok' })
  expect((await frames.next())[4]).toMatchObject({ status: 'ok', message: 'Subscribed to PostgreSQL' })
  const renewed = await tokens.sign({ role: 'anon', exp: Math.floor(Date.now() / 1000) + 60 })
  say('1', '2', 'realtime:room', 'access_token', { access_token: renewed })
  say('1', '3', 'realtime:room', 'broadcast', { event: 'e', payload: {} })
  expect((await frames.next()).slice(1)).toEqual(['3', 'realtime:room', 'phx_reply', refusal])
  say('1', '4', 'realtime:room', 'presence', { event: 'track', payload: {} })
  expect((await frames.next())[4]).toMatchObject({ status: 'error' })
  const rejected = await broadcastOver(node, tokens.anonKey, [message])
  expect(rejected.status).toBe(422)
  expect(await rejected.json()).toEqual({ errors: { messages: ['This project only allows private channels'] } })
  expect((await broadcastOver(node, tokens.anonKey, [{ ...message, private: true }])).status).toBe(202)
})
