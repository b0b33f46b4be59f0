import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { REALTIME_SUBSCRIBE_STATES } from '@supabase/realtime-js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import type { Tokens } from '#server/access/tokens.ts'
import { createLog } from '#server/base/log.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import {
  createRecorder,
  createTestTokens,
  openClient,
  openRawSocket,
  type RealtimeNode,
  startNode,
  subscribed,
  tokenOf,
} from '#test/realtime.ts'

let database: TestDatabase
let tokens: Tokens
let node: RealtimeNode

beforeAll(async () => {
  database = await createTestDatabase()
  tokens = await createTestTokens()
  node = await startNode(database, tokens)
})
afterAll(async () => {
  await node.close()
  await database.drop()
})

const logLine = z.record(z.string(), z.unknown())

const openSocket = (on = node) => openRawSocket(on, tokens.anonKey)

function handshake(path: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    }
    const sent = request({ host: '127.0.0.1', port: node.port, path, headers }, (response) => {
      response.setEncoding('utf8')
      let body = ''
      response.on('data', (text: string) => (body += text))
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

test.each([
  ['without a key', '/realtime/v1/websocket?vsn=2.0.0', 401],
  ['with a key that is none', '/realtime/v1/websocket?vsn=2.0.0&apikey=nonsense', 401],
  ['at another address', '/realtime/v1/elsewhere?apikey=x', 404],
])('a handshake %s is rejected with JSON', async (_, path, status) => {
  const answer = await handshake(path)
  expect(answer.status).toBe(status)
  expect(JSON.parse(answer.body)).toHaveProperty('error')
})

test('a handshake with an unknown version is rejected', async () => {
  expect((await handshake(`/realtime/v1/websocket?vsn=9.9.9&apikey=${tokens.anonKey}`)).status).toBe(400)
})

test('each handshake has an id, in its header and in one log line without the key', async () => {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line) => void lines.push(logLine.parse(JSON.parse(line))) })
  const logged = await startNode(database, tokens, { log, trustProxy: 1 })
  onTestFinished(() => logged.close())
  const url = `ws://127.0.0.1:${logged.port}/realtime/v1/websocket?vsn=2.0.0&apikey=`
  for (const [apiKey, status] of [
    [tokens.anonKey, 101],
    ['nonsense', 401],
  ] as const) {
    const socket = new WebSocket(`${url}${apiKey}`, { headers: { 'x-request-id': `handshake-${status}` } })
    const response = await new Promise<IncomingMessage>((resolve) => {
      socket.on('upgrade', resolve)
      socket.on('unexpected-response', (_, answer) => resolve(answer))
    })
    expect(response.headers['x-request-id']).toBe(`handshake-${status}`)
    const wanted = { requestId: `handshake-${status}`, method: 'GET', path: '/realtime/v1/websocket', status }
    await expect.poll(() => lines).toContainEqual(expect.objectContaining(wanted))
    socket.on('error', () => undefined)
    socket.terminate()
  }
  expect(JSON.stringify(lines)).not.toContain(tokens.anonKey)
})

test('a heartbeat gets a reply with its ref', async () => {
  const { frames, say } = await openSocket()
  say(null, '7', 'phoenix', 'heartbeat')
  expect(await frames.next()).toEqual([null, '7', 'phoenix', 'phx_reply', { status: 'ok', response: {} }])
})

test('a join echoes its bindings with ids, in the order sent', async () => {
  const { frames, say } = await openSocket()
  const bindings = [
    { event: 'INSERT', schema: 'public', table: 'messages', filter: 'sender_role=eq.2' },
    { event: '*', schema: 'public' },
    { event: 'UPDATE', schema: 'public', table: 'conversations', filter: null },
  ]
  say('1', '1', 'realtime:room', 'phx_join', { config: { postgres_changes: bindings.slice(1), private: 'false' } })
  const [joinRef, ref, topic, event, payload] = await frames.next()
  expect([joinRef, ref, topic, event]).toEqual(['1', '1', 'realtime:room', 'phx_reply'])
  const ids = { id: expect.any(Number) as unknown }
  expect(payload).toEqual({
    status: 'ok',
    response: {
      postgres_changes: [
        { ...bindings[1], ...ids },
        { ...bindings[2], ...ids },
      ],
    },
  })
  expect((await frames.next())[4]).toEqual({
    extension: 'postgres_changes',
    status: 'ok',
    message: 'Subscribed to PostgreSQL',
    channel: 'room',
  })
})

test('a second join of a topic ends the first', async () => {
  const { frames, say } = await openSocket()
  say('1', '1', 'realtime:room', 'phx_join', {})
  expect((await frames.next())[1]).toBe('1')
  say('2', '2', 'realtime:room', 'phx_join', {})
  expect(await frames.next()).toEqual(['1', '1', 'realtime:room', 'phx_close', {}])
  expect((await frames.next()).slice(0, 4)).toEqual(['2', '2', 'realtime:room', 'phx_reply'])
  // A late leave of the first join does not end the second.
  say('1', '3', 'realtime:room', 'phx_leave')
  expect((await frames.next()).slice(0, 4)).toEqual(['1', '3', 'realtime:room', 'phx_reply'])
  say('2', '4', 'realtime:room', 'phx_leave')
  expect((await frames.next()).slice(0, 4)).toEqual(['2', '4', 'realtime:room', 'phx_reply'])
  expect(await frames.next()).toEqual(['2', '2', 'realtime:room', 'phx_close', {}])
})

test.each([
  ['a topic that was not joined', 'realtime:elsewhere', 'broadcast', 'unmatched topic'],
  ['a join without a name', 'realtime:', 'phx_join', 'TopicNameRequired: You must provide a topic name'],
])('%s gets a reply with the reason', async (_, topic, event, reason) => {
  const { frames, say } = await openSocket()
  say('1', '1', topic, event)
  expect((await frames.next())[4]).toEqual({ status: 'error', response: { reason } })
})

test('a join with an invalid token gets the reason', async () => {
  const { frames, say } = await openSocket()
  const reasons = []
  const person = await database.createPerson()
  const expired = await tokenOf(tokens, person, { lifetimeS: -5 })
  const [head, body] = tokens.anonKey.split('.')
  for (const access_token of ['nonsense', expired, `${head}.${body}.AAAA`]) {
    say('1', '1', 'realtime:room', 'phx_join', { access_token })
    reasons.push((await frames.next())[4]['response'])
  }
  expect(reasons).toEqual([
    { reason: 'MalformedJWT: The token provided is not a valid JWT' },
    { reason: expect.stringMatching(/^InvalidJWTToken: Token has expired \d+ seconds ago$/) as unknown },
    { reason: 'JwtSignatureError: Failed to validate JWT signature' },
  ])
})

test('a broadcast without acknowledgement gets no reply', async () => {
  const { frames, say } = await openSocket()
  say('1', '1', 'realtime:quiet', 'phx_join', {})
  await frames.next()
  say('1', '2', 'realtime:quiet', 'broadcast', { type: 'broadcast', event: 'e', payload: {} })
  say(null, '3', 'phoenix', 'heartbeat')
  expect((await frames.next())[1]).toBe('3')
})

test('a malformed frame closes the socket', async () => {
  const { ws } = await openSocket()
  ws.send('not JSON')
  const [code] = z.tuple([z.number(), z.unknown()]).parse(await once(ws, 'close'))
  expect(code).toBe(1003)
})

test('an idle socket is closed', async () => {
  const strict = await startNode(database, tokens, { limits: { idleTimeoutMs: 500 } })
  onTestFinished(() => strict.close())
  const { ws } = await openSocket(strict)
  await once(ws, 'close')
  await expect.poll(() => strict.realtime.stats().sockets).toBe(0)
})

test('a channel ends when its token expires', async () => {
  const person = await database.createPerson()
  const client = await openClient(node, {
    apikey: tokens.anonKey,
    token: await tokenOf(tokens, person, { lifetimeS: 3 }),
  })
  onTestFinished(async () => {
    await client.disconnect()
  })
  const channel = client.channel('short')
  const said = createRecorder<unknown>()
  channel.on('system', {}, (payload) => said.add(payload))
  const isClosed = new Promise<void>((resolve, reject) => {
    channel.subscribe((status, error) => {
      if (status === REALTIME_SUBSCRIBE_STATES.CLOSED) resolve()
      else if (error) reject(error)
    })
  })
  expect(await said.next()).toEqual({
    extension: 'system',
    status: 'error',
    message: expect.stringMatching(/^Token has expired \d+ seconds ago$/) as unknown,
    channel: 'short',
  })
  await isClosed
})

test('signing out ends the channels of that session only', async () => {
  const person = await database.createPerson()
  const [ended, other] = [randomUUID(), randomUUID()]
  await database.admin.query('insert into auth.sessions (id, user_id) values ($1, $3), ($2, $3)', [
    ended,
    other,
    person.sub,
  ])
  const { frames, say } = await openSocket()
  for (const [index, session_id] of [ended, other].entries()) {
    const access_token = await tokens.sign({ ...person, session_id, exp: Math.floor(Date.now() / 1000) + 60 })
    say('1', '1', `realtime:${index}`, 'phx_join', { access_token })
    await frames.next()
  }
  await database.admin.query('delete from auth.sessions where id = $1', [ended])
  const [, , topic, , payload] = await frames.next()
  expect([topic, payload['message']]).toEqual(['realtime:0', 'The session has ended'])
  expect((await frames.next())[3]).toBe('phx_close')
  say('1', '2', 'realtime:1', 'phx_leave')
  expect((await frames.next())[4]).toMatchObject({ status: 'ok' })
})

test('a fresh token keeps a private channel, and one without read permission ends it', async () => {
  const [owner, stranger] = [await database.createPerson(), await database.createPerson()]
  const conversation = randomUUID()
  await database.admin.query(`insert into conversations (id, uid, model_name) values ($1, $2, 'm')`, [
    conversation,
    owner.sub,
  ])
  const { frames, say } = await openSocket()
  const topic = `realtime:conversation:${conversation}`
  say('1', '1', topic, 'phx_join', { access_token: await tokenOf(tokens, owner), config: { private: true } })
  expect((await frames.next())[4]).toMatchObject({ status: 'ok' })
  say('1', '2', topic, 'access_token', { access_token: await tokenOf(tokens, owner) })
  say(null, '3', 'phoenix', 'heartbeat')
  expect((await frames.next())[1]).toBe('3')
  say('1', '4', topic, 'access_token', { access_token: await tokenOf(tokens, stranger) })
  expect((await frames.next())[4]).toMatchObject({
    message: `You no longer have permission to read from this Channel topic: conversation:${conversation}`,
  })
  expect((await frames.next())[3]).toBe('phx_close')
})

test('a closed socket leaves nothing behind', async () => {
  const client = await openClient(node, { apikey: tokens.anonKey })
  const channel = client.channel('brief')
  channel.on('postgres_changes', { event: '*', schema: 'public' }, () => undefined)
  await subscribed(channel)
  const before = node.realtime.stats()
  expect(before.bindings).toBeGreaterThan(0)
  await client.disconnect()
  await expect.poll(() => node.realtime.stats().bindings).toBe(before.bindings - 1)
})
