import { randomUUID } from 'node:crypto'
import type { RealtimeClient } from '@supabase/realtime-js'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Tokens } from '#server/access/tokens.ts'
import { createLog } from '#server/base/log.ts'
import { openListener } from '#server/database/listen.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { isInOrder } from '#test/nats.ts'
import {
  createRecorder,
  createTestTokens,
  openClient,
  type RealtimeNode,
  type Recorder,
  startNode,
  subscribed,
  tokenOf,
} from '#test/realtime.ts'

type Person = Awaited<ReturnType<TestDatabase['createPerson']>>
interface Heard {
  readonly event: string
  readonly payload: unknown
  readonly meta?: { readonly id: string }
}
interface Options {
  readonly private?: boolean
  readonly self?: boolean
  readonly ack?: boolean
}

let database: TestDatabase
let tokens: Tokens
let node: RealtimeNode
let owner: Person
let stranger: Person
let conversation: string
const clients: RealtimeClient[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  tokens = await createTestTokens()
  node = await startNode(database, tokens)
  await database.admin.query(`
    create policy "everyone signed in talks in rooms" on realtime.messages
      for all to authenticated using (realtime.topic() like 'room:%') with check (realtime.topic() like 'room:%')`)
})
beforeEach(async () => {
  owner = await database.createPerson()
  stranger = await database.createPerson()
  conversation = randomUUID()
  await database.admin.query(`insert into conversations (id, uid, model_name) values ($1, $2, 'm')`, [
    conversation,
    owner.sub,
  ])
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.disconnect()))
})
afterAll(async () => {
  await node.close()
  await database.drop()
})

async function clientOf(person: Person | 'anon', vsn: '1.0.0' | '2.0.0' = '2.0.0', on = node) {
  const token = person === 'anon' ? tokens.anonKey : await tokenOf(tokens, person)
  const client = await openClient(on, { apikey: tokens.anonKey, token, vsn })
  clients.push(client)
  return client
}

async function enter(
  client: RealtimeClient,
  topic: string,
  { private: isPrivate = false, self = false, ack = false }: Options = {},
) {
  const heard: Recorder<Heard> = createRecorder()
  const channel = client.channel(topic, { config: { private: isPrivate, broadcast: { self, ack } } })
  channel.on('broadcast', { event: '*' }, (message) => heard.add(message as unknown as Heard))
  await subscribed(channel)
  return { channel, heard }
}

const sendFromSql = (topic: string, event: string, payload: unknown, isPrivate = true) =>
  database.database.asService((scope) =>
    scope.query('select realtime.send($1::jsonb, $2, $3, $4)', [JSON.stringify(payload), event, topic, isPrivate]),
  )

async function storedRows(topic: string): Promise<number> {
  const { rows } = await database.admin.query<{ rows: number }>(
    'select count(*)::int as rows from realtime.messages where topic = $1',
    [topic],
  )
  return rows[0]?.rows ?? -1
}

test('the owner of a conversation receives its replies in order, large ones between small ones', async () => {
  const { heard } = await enter(await clientOf(owner), `conversation:${conversation}`, { private: true })
  const texts = ['first', 'x'.repeat(20_000), 'third', 'y'.repeat(9_000), 'fifth']
  await database.database.asService(async (scope) => {
    for (const text of texts) {
      await scope.query('select realtime.send($1::jsonb, $2, $3)', [
        JSON.stringify({ text }),
        'reply',
        `conversation:${conversation}`,
      ])
    }
  })
  for (const text of texts) {
    const message = await heard.next()
    expect(message).toMatchObject({ event: 'reply', payload: { text } })
    expect(message.meta?.id).toMatch(/^[0-9a-f-]{36}$/)
  }
})

test.each(['a second user', 'nobody'] as const)(
  '%s may not join the private channel of a conversation',
  async (who) => {
    const client = await clientOf(who === 'nobody' ? 'anon' : stranger)
    await expect(enter(client, `conversation:${conversation}`, { private: true })).rejects.toThrow(
      `Unauthorized: You do not have permissions to read from this Channel topic: conversation:${conversation}`,
    )
  },
)

test('a public channel of the same name is a separate room', async () => {
  const topic = `conversation:${conversation}`
  const outside = await enter(await clientOf(stranger), topic)
  const inside = await enter(await clientOf(owner), topic, { private: true })
  await sendFromSql(topic, 'reply', { text: 'for the owner' })
  await sendFromSql(topic, 'hello', {}, false)
  expect((await outside.heard.next()).event).toBe('hello')
  expect((await inside.heard.next()).event).toBe('reply')
  expect(inside.heard.waiting).toEqual([])
})

test('broadcasts without write permission are dropped', async () => {
  const topic = `conversation:${conversation}`
  const first = await enter(await clientOf(owner), topic, { private: true, self: true })
  const second = await enter(await clientOf(owner), topic, { private: true })
  await first.channel.send({ type: 'broadcast', event: 'reply', payload: { text: 'forged' } })
  await first.channel.httpSend('reply', { text: 'forged over REST' })
  await sendFromSql(topic, 'reply', { text: 'real' })
  expect((await first.heard.next()).payload).toEqual({ text: 'real' })
  expect((await second.heard.next()).payload).toEqual({ text: 'real' })
})

test.each([
  ['1.0.0', '2.0.0'],
  ['2.0.0', '1.0.0'],
  ['2.0.0', '2.0.0'],
] as const)('a member speaks to the others, from %s to %s', async (from, to) => {
  const topic = `room:${randomUUID()}`
  const speaker = await enter(await clientOf(owner, from), topic, { private: true, ack: true })
  const listener = await enter(await clientOf(stranger, to), topic, { private: true })
  const answer = await speaker.channel.send({ type: 'broadcast', event: 'grüße', payload: { text: 'ça va', n: 1.5 } })
  expect(answer).toBe('ok')
  const message = await listener.heard.next()
  expect(message).toEqual({ type: 'broadcast', event: 'grüße', payload: { text: 'ça va', n: 1.5 } })
  expect(speaker.heard.waiting).toEqual([])
})

test('a member with self receives its own broadcasts, in the common order', async () => {
  const { channel, heard } = await enter(await clientOf('anon'), `cursors:${randomUUID()}`, { self: true })
  for (let n = 0; n < 20; n += 1)
    void channel.send({ type: 'broadcast', event: 'move', payload: { n, pad: 'x'.repeat(n % 3 === 0 ? 9_000 : 1) } })
  for (let n = 0; n < 20; n += 1) expect((await heard.next()).payload).toMatchObject({ n })
})

test('raw bytes stay unchanged, and 1.0.0 clients do not receive them', async () => {
  const topic = `bytes:${randomUUID()}`
  const speaker = await enter(await clientOf('anon'), topic)
  const binary = await enter(await clientOf('anon'), topic)
  const text = await enter(await clientOf('anon', '1.0.0'), topic)
  const bytes = Uint8Array.from([0, 1, 254, 255])
  await speaker.channel.send({ type: 'broadcast', event: 'raw', payload: bytes.buffer })
  await speaker.channel.send({ type: 'broadcast', event: 'json', payload: {} })
  const raw = (await binary.heard.next()).payload
  expect(new Uint8Array(raw as ArrayBuffer)).toEqual(bytes)
  expect((await text.heard.next()).event).toBe('json')
})

test('text and numbers that jsonb cannot store or would enlarge arrive as they were sent', async () => {
  const topic = `text:${randomUUID()}`
  const speaker = await enter(await clientOf('anon'), topic, { ack: true })
  const listener = await enter(await clientOf('anon'), topic)
  const sent = [{ text: 'a' }, { text: '\0' }, { text: '\0'.repeat(9_000) }, Array<number>(900).fill(1e300)]
  const answers = await Promise.all(
    sent.map((payload) => speaker.channel.send({ type: 'broadcast', event: 'say', payload })),
  )
  expect(answers).toEqual(['ok', 'ok', 'ok', 'ok'])
  for (const payload of sent) expect((await listener.heard.next()).payload).toEqual(payload)
  expect(await storedRows(topic)).toBe(0)
})

test('large broadcasts store nothing, with listeners on this node or with none', async () => {
  const topic = `large:${randomUUID()}`
  const speaker = await enter(await clientOf('anon'), topic, { ack: true })
  const send = (n: number) =>
    speaker.channel.send({ type: 'broadcast', event: 'e', payload: { n, pad: 'x'.repeat(2_000_000) } })
  for (let n = 0; n < 3; n += 1) expect(await send(n)).toBe('ok')
  // Notifications of one channel keep their order: after this one, the earlier ones have found no listener.
  const fence = await enter(await clientOf('anon'), `fence:${topic}`)
  await sendFromSql(`fence:${topic}`, 'e', {}, false)
  await fence.heard.next()
  const listener = await enter(await clientOf('anon'), topic)
  for (let n = 3; n < 6; n += 1) expect(await send(n)).toBe('ok')
  for (let n = 3; n < 6; n += 1) expect((await listener.heard.next()).payload).toMatchObject({ n })
  expect(await speaker.channel.httpSend('e', { n: 6, pad: 'y'.repeat(2_000_000) })).toEqual({ success: true })
  expect((await listener.heard.next()).payload).toMatchObject({ n: 6 })
  expect(await storedRows(topic)).toBe(0)
})

test('a large broadcast is stored once for the nodes that have listeners, and removed soon', async () => {
  const nodes = [await startNode(database, tokens), await startNode(database, tokens, { databaseSweepMs: 50 })]
  try {
    const topic = `across:${randomUUID()}`
    const speaker = await enter(await clientOf('anon'), topic, { ack: true })
    const listeners = await Promise.all(
      [node, ...nodes].map(async (on) => enter(await clientOf('anon', '2.0.0', on), topic)),
    )
    const texts = ['x'.repeat(90_000), 'small', '\0'.repeat(9_000), 'small too']
    for (const text of texts)
      expect(await speaker.channel.send({ type: 'broadcast', event: 'e', payload: { text } })).toBe('ok')
    const bytes = new Uint8Array(20_000).fill(254)
    await speaker.channel.send({ type: 'broadcast', event: 'raw', payload: bytes.buffer })
    for (const { heard } of listeners) {
      for (const text of texts) expect((await heard.next()).payload).toEqual({ text })
      expect(new Uint8Array((await heard.next()).payload as ArrayBuffer)).toEqual(bytes)
    }
    expect(await storedRows(topic)).toBe(3)
    await database.admin.query(`update realtime.messages set inserted_at = inserted_at - interval '70 seconds'`)
    await expect.poll(() => storedRows(topic)).toBe(0)
    await Promise.all(clients.splice(0).map((client) => client.disconnect()))
  } finally {
    for (const other of nodes) await other.close()
  }
})

// This test listens to PostgreSQL, as nodes without NATS do.
test.skipIf(!isInOrder())('a node that asks late does not make a payload be stored again', async () => {
  const other = await startNode(database, tokens, { databaseSweepMs: 50 })
  const listener = await openListener(database.connection, createLog('silent'))
  try {
    const topic = `late:${randomUUID()}`
    const [wanted, stored] = [createRecorder<string>(), createRecorder<string>()]
    await listener.on('realtime_broadcast_wanted', (payload) => wanted.add(payload))
    const speaker = await enter(await clientOf('anon'), topic, { ack: true })
    const { heard } = await enter(await clientOf('anon', '2.0.0', other), topic)
    await speaker.channel.send({ type: 'broadcast', event: 'e', payload: { text: 'x'.repeat(90_000) } })
    await heard.next()
    await database.admin.query(`update realtime.messages set inserted_at = inserted_at - interval '70 seconds'`)
    await expect.poll(() => storedRows(topic)).toBe(0)
    await listener.on('realtime_broadcast_stored', (id) => stored.add(id))
    await database.admin.query(`select realtime.ring('realtime_broadcast_wanted', $1)`, [await wanted.next()])
    await stored.next()
    expect(await storedRows(topic)).toBe(0)
    await Promise.all(clients.splice(0).map((client) => client.disconnect()))
  } finally {
    await listener.close()
    await other.close()
  }
})

test('a payload whose node is gone delays its own room only', async () => {
  const [lost, other] = [`room:${randomUUID()}`, `room:${randomUUID()}`]
  const client = await clientOf(owner)
  const waiting = await enter(client, lost, { private: true })
  const { heard } = await enter(client, other, { private: true })
  const envelope = { id: randomUUID(), topic: lost, event: 'e', private: true, stored: true, holder: randomUUID() }
  await database.database.asService((scope) =>
    scope.query(`select realtime.ring('realtime_broadcast', $1)`, [JSON.stringify(envelope)]),
  )
  await sendFromSql(lost, 'late', {})
  await sendFromSql(other, 'e', {})
  expect((await heard.next()).event).toBe('e')
  expect(waiting.heard.waiting).toEqual([])
  await database.database.asService((scope) =>
    scope.query(`select realtime.ring('realtime_broadcast_stored', $1)`, [envelope.id]),
  )
  expect((await waiting.heard.next()).event).toBe('late')
})

test('nodes of one database share their rooms', async () => {
  const other = await startNode(database, tokens)
  try {
    const topic = `room:${randomUUID()}`
    const here = await enter(await clientOf(owner), topic, { private: true })
    const there = await enter(await clientOf(stranger, '2.0.0', other), topic, { private: true })
    await here.channel.send({ type: 'broadcast', event: 'hi', payload: { from: 'here' } })
    expect((await there.heard.next()).payload).toEqual({ from: 'here' })
    await there.channel.send({ type: 'broadcast', event: 'hi', payload: { from: 'there' } })
    expect((await here.heard.next()).payload).toEqual({ from: 'there' })
    await Promise.all(clients.splice(0).map((client) => client.disconnect()))
  } finally {
    await other.close()
  }
})

test('both REST forms reach the members', async () => {
  const topic = `room:${randomUUID()}`
  const listener = await enter(await clientOf(owner), topic, { private: true })
  const sender = (await clientOf(stranger)).channel(topic, { config: { private: true } })
  expect(await sender.httpSend('one', { n: 1 })).toEqual({ success: true })
  expect(await sender.send({ type: 'broadcast', event: 'two', payload: { n: 2 } })).toBe('ok')
  expect(await listener.heard.next()).toEqual({ type: 'broadcast', event: 'one', payload: { n: 1 } })
  expect(await listener.heard.next()).toEqual({ type: 'broadcast', event: 'two', payload: { n: 2 } })
})

test('REST rejects unknown callers and malformed messages', async () => {
  const post = (headers: Record<string, string>, body: unknown) =>
    fetch(`http://127.0.0.1:${node.port}/realtime/v1/api/broadcast`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const message = { topic: 't', event: 'e', payload: {} }
  expect((await post({}, { messages: [message] })).status).toBe(401)
  expect((await post({ authorization: 'Bearer nonsense' }, { messages: [message] })).status).toBe(401)
  const known = { apikey: tokens.anonKey }
  expect((await post(known, { messages: [message] })).status).toBe(202)
  const refused = await post(known, { messages: [{ topic: 't', payload: 'no object' }] })
  expect(refused.status).toBe(422)
  expect(await refused.json()).toHaveProperty('errors')
  expect(
    (await post(known, { messages: [{ ...message, payload: { text: 'x'.repeat(3 * 1024 * 1024) } }] })).status,
  ).toBe(413)
})

test('one request may name many private topics, whose policies one transaction evaluates', async () => {
  const listener = await enter(await clientOf(owner), 'room:of many', { private: true })
  const post = async (topics: number) => {
    const messages = Array.from({ length: topics }, (_, n) => ({
      topic: n === topics - 1 ? 'room:of many' : n % 2 === 0 ? `room:${n}` : `closed:${n}`,
      event: 'e',
      payload: {},
      private: true,
    }))
    return fetch(`http://127.0.0.1:${node.port}/realtime/v1/api/broadcast`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', apikey: await tokenOf(tokens, owner) },
      body: JSON.stringify({ messages }),
    })
  }
  const transactions = async () => {
    const { rows } = await database.admin.query<{ done: number }>(
      `select pg_stat_force_next_flush(), xact_commit + xact_rollback as done
       from pg_stat_database where datname = current_database()`,
    )
    return Number(rows[0]?.done)
  }
  const before = await transactions()
  expect((await post(100)).status).toBe(202)
  expect((await listener.heard.next()).event).toBe('e')
  expect((await transactions()) - before).toBeLessThan(50)
  const tooMany = await post(101)
  expect(tooMany.status).toBe(422)
  expect(await tooMany.json()).toEqual({ errors: { messages: ['Send to at most 100 private topics at a time'] } })
  const { rows } = await database.database.asUser(owner, (scope) =>
    scope.query<{ topic: string }>(`select realtime.writable_topics('{room:a,closed:b,room:c}') as topic`),
  )
  expect(rows.map(({ topic }) => topic)).toEqual(['room:a', 'room:c'])
  const left = await database.admin.query(
    `select from realtime.messages where topic like 'room:a%' or topic like 'closed:%'`,
  )
  expect(left.rowCount).toBe(0)
})

test('only the service reads stored messages', async () => {
  for (const claims of [stranger, { role: 'anon' as const }]) {
    for (const table of ['changes', 'nodes', 'presences']) {
      const reading = database.database.asUser(claims, (scope) => scope.query(`select from realtime.${table}`))
      await expect(reading).rejects.toThrow(/permission denied/)
    }
    for (const call of [`realtime.relay('{}')`, 'realtime.watch_publication()']) {
      const calling = database.database.asUser(claims, (scope) => scope.query(`select ${call}`))
      await expect(calling).rejects.toThrow(/permission denied/)
    }
  }
  await sendFromSql(`conversation:${conversation}`, 'reply', { text: 'z'.repeat(9_000) })
  const stored = await database.database.asUser(stranger, (scope) => scope.query('select from realtime.messages'))
  expect(stored.rowCount).toBe(0)
})

test('a broadcast from SQL is delivered if the policies allow it, and never fails the write', async () => {
  const { heard } = await enter(await clientOf(owner), 'room:sql', { private: true })
  const send = (topic: string, text: string) =>
    database.database.asUser(owner, (scope) =>
      scope.query('select realtime.send($1, $2, $3)', [JSON.stringify({ text }), 'said', topic]),
    )
  await send('elsewhere', 'not admitted')
  await database.database.asUser(
    owner,
    (scope) =>
      scope.query(
        `insert into realtime.messages (topic, extension, payload, event, private)
       values ('room:sql', 'broadcast', '{"text": "inserted"}', 'said', true)`,
      ),
    { settings: { 'realtime.topic': 'room:sql' } },
  )
  await send('room:sql', 'sent')
  expect(await heard.next()).toMatchObject({ event: 'said', payload: { text: 'inserted' } })
  expect(await heard.next()).toMatchObject({ event: 'said', payload: { text: 'sent' } })
})

test('a broadcast from SQL that is too large for a notification is delivered', async () => {
  const { heard } = await enter(await clientOf(owner), 'room:large', { private: true })
  const text = 'z'.repeat(9_000)
  await database.database.asUser(owner, (scope) =>
    scope.query('select realtime.send($1, $2, $3)', [JSON.stringify({ text }), 'said', 'room:large']),
  )
  expect(await heard.next()).toMatchObject({ event: 'said', payload: { text } })
})

test('an early delivery reaches members of the private room once and in order', async () => {
  const topic = `conversation:${conversation}`
  const first = await enter(await clientOf(owner), topic, { private: true })
  const outside = await enter(await clientOf(stranger), topic)
  const messages = ['one', 'two', 'z'.repeat(9_000)].map((text) => ({ id: randomUUID(), text }))
  const tell = (index: number) => {
    const payload = messages[index]
    if (payload) node.realtime.deliverEarly({ id: payload.id, topic, event: 'reply', payload })
  }
  tell(0)
  expect(await first.heard.next()).toMatchObject({ payload: messages[0], meta: { id: messages[0]?.id } })
  const second = await enter(await clientOf(owner), topic, { private: true })
  tell(1)
  tell(2)
  expect(await first.heard.next()).toMatchObject({ payload: messages[1] })
  expect(await first.heard.next()).toMatchObject({ payload: messages[2] })
  for (const message of messages) await sendFromSql(topic, 'reply', message)
  for (const payload of messages) expect(await second.heard.next()).toMatchObject({ payload })
  await sendFromSql(topic, 'reply', { text: 'the last' })
  expect(await first.heard.next()).toMatchObject({ payload: { text: 'the last' } })
  expect(await second.heard.next()).toMatchObject({ payload: { text: 'the last' } })
  const payload = { id: randomUUID(), text: 'to both' }
  node.realtime.deliverEarly({ id: payload.id, topic, event: 'reply', payload })
  expect(await second.heard.next()).toMatchObject({ payload })
  await database.admin.query(`select realtime.send('{"text": "in public"}', 'said', $1, false)`, [topic])
  expect(await outside.heard.next()).toMatchObject({ payload: { text: 'in public' } })
})

test('a trigger broadcasts the change of a row', async () => {
  await database.admin.query(`
    create table notes (id integer primary key, text text);
    create function tell_notes() returns trigger language plpgsql security definer set search_path = '' as $$
    begin
      perform realtime.broadcast_changes('room:notes', tg_op, tg_op, tg_table_name, tg_table_schema, new, old);
      return null;
    end $$;
    create trigger tell after insert or update or delete on notes for each row execute function tell_notes()`)
  const { heard } = await enter(await clientOf(owner), 'room:notes', { private: true })
  await database.admin.query(`insert into notes values (1, 'a'); update notes set text = 'b'; delete from notes`)
  expect(await heard.next()).toMatchObject({
    event: 'INSERT',
    payload: { operation: 'INSERT', table: 'notes', schema: 'public', record: { id: 1, text: 'a' }, old_record: null },
  })
  expect(await heard.next()).toMatchObject({
    payload: { record: { text: 'b' }, old_record: { text: 'a' } },
  })
  expect(await heard.next()).toMatchObject({ payload: { record: null, old_record: { text: 'b' } } })
})
