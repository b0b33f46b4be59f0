import { randomUUID } from 'node:crypto'
import type { RealtimeChannel, RealtimeClient } from '@supabase/realtime-js'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Tokens } from '#server/access/tokens.ts'
import { createTestDatabase, temporaryDatabase, type TestDatabase } from '#test/database.ts'
import {
  createRecorder,
  createTestTokens,
  openClient,
  type RealtimeNode,
  startNode,
  subscribed,
  tokenOf,
} from '#test/realtime.ts'
import { createSpace, join } from '#test/spaces.ts'

let database: TestDatabase
let tokens: Tokens
let node: RealtimeNode
let other: RealtimeNode
const clients: RealtimeClient[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  tokens = await createTestTokens()
  node = await startNode(database, tokens, { databaseSweepMs: 500 })
  other = await startNode(database, tokens)
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.disconnect()))
})
afterAll(async () => {
  await node.close()
  await other.close()
  await database.drop()
})

async function clientOn(on: RealtimeNode, token = tokens.anonKey) {
  const client = await openClient(on, { apikey: tokens.anonKey, token })
  clients.push(client)
  return client
}

async function enter(client: RealtimeClient, topic: string, key: string, isPrivate = false) {
  const channel = client.channel(topic, { config: { presence: { key }, private: isPrivate } })
  const syncs = createRecorder<Record<string, unknown[]>>()
  const leaves = createRecorder<string>()
  channel.on('presence', { event: 'sync' }, () => syncs.add(statesOf(channel)))
  channel.on('presence', { event: 'leave' }, ({ key: gone }) => leaves.add(gone))
  await subscribed(channel)
  return { channel, syncs, leaves }
}

const statesOf = (channel: RealtimeChannel): Record<string, unknown[]> =>
  Object.fromEntries(
    Object.entries(channel.presenceState()).map(([key, metas]) => [
      key,
      metas.map(({ presence_ref: _, ...meta }) => meta),
    ]),
  )

test('every node knows the presence state from the join on and through every change', async () => {
  const topic = `lobby:${randomUUID()}`
  const ada = await enter(await clientOn(node), topic, 'ada')
  expect(await ada.syncs.next()).toEqual({})
  expect(await ada.channel.track({ mood: 'calm' })).toBe('ok')
  expect(await ada.syncs.next()).toEqual({ ada: [{ mood: 'calm' }] })

  const bob = await enter(await clientOn(other), topic, 'bob')
  expect(await bob.syncs.next()).toEqual({ ada: [{ mood: 'calm' }] })
  await bob.channel.track({ mood: 'curious' })
  expect(await ada.syncs.next()).toEqual({ ada: [{ mood: 'calm' }], bob: [{ mood: 'curious' }] })

  await bob.syncs.next()

  await ada.channel.track({ mood: 'busy' })
  expect(await bob.syncs.next()).toMatchObject({ ada: [{ mood: 'busy' }] })

  await ada.channel.untrack()
  expect(await bob.syncs.next()).toEqual({ bob: [{ mood: 'curious' }] })
})

test('a closed socket removes its presence', async () => {
  const topic = `lobby:${randomUUID()}`
  const [stays, goes] = [
    await enter(await clientOn(node), topic, 'stays'),
    await enter(await clientOn(other), topic, 'goes'),
  ]
  await stays.syncs.next()
  await goes.channel.track({})
  expect(await stays.syncs.next()).toEqual({ goes: [{}] })
  await clients.at(-1)?.disconnect()
  expect(await stays.syncs.next()).toEqual({})
  expect(await stays.leaves.next()).toBe('goes')
})

test('other nodes remove the presences of a lost node', async () => {
  const topic = `lobby:${randomUUID()}`
  const watcher = await enter(await clientOn(node), topic, 'watcher')
  await watcher.syncs.next()
  await watcher.channel.track({ here: true })
  expect(await watcher.syncs.next()).toEqual({ watcher: [{ here: true }] })
  await database.admin.query(
    `with dead as (insert into realtime.nodes values (gen_random_uuid(), now() - interval '1 minute') returning id)
     insert into realtime.presences (channel, ref, node, room, key, meta) select gen_random_uuid(), 'r', id, $1, 'ghost', '{}' from dead`,
    [`public:${topic}`],
  )
  await database.admin.query(`select pg_notify('realtime_presence', $1)`, [`public:${topic}`])
  expect(await watcher.syncs.next()).toHaveProperty('ghost')
  expect(await watcher.syncs.next()).toEqual({ watcher: [{ here: true }] })
})

test('a key may have the name of a built-in property', async () => {
  const { channel, syncs } = await enter(await clientOn(node), `lobby:${randomUUID()}`, '__proto__')
  await syncs.next()
  expect(await channel.track({ a: 1 })).toBe('ok')
})

test('only an object can be tracked', async () => {
  const { channel } = await enter(await clientOn(node), `lobby:${randomUUID()}`, 'odd')
  expect(await channel.send({ type: 'presence', event: 'track', payload: 'text' })).toBe('error')
})

test('a member of a private topic without a presence policy neither appears nor sees presence', async () => {
  const owner = await database.createPerson()
  const conversation = randomUUID()
  await database.admin.query(`insert into conversations (id, uid, model_name) values ($1, $2, 'm')`, [
    conversation,
    owner.sub,
  ])
  const client = await clientOn(node, await tokenOf(tokens, owner))
  const { channel, syncs } = await enter(client, `conversation:${conversation}`, 'owner', true)
  expect(await channel.track({ here: true })).toBe('error')
  const { rows } = await database.admin.query('select from realtime.presences where key = $1', ['owner'])
  expect(rows).toEqual([])
  expect(syncs.waiting).toEqual([])
})

test('a member of a space is present as nobody else', async () => {
  const [owner, member] = [await database.createPerson(), await database.createPerson()]
  const space = await createSpace(database, owner)
  await join(database, owner, space, member, 'reader')
  const [watching, pretending] = [
    await clientOn(other, await tokenOf(tokens, owner)),
    await clientOn(node, await tokenOf(tokens, member)),
  ]
  const watcher = await enter(watching, `space:${space}`, 'watcher', true)
  const { channel } = await enter(pretending, `space:${space}`, 'pretender', true)
  await channel.track({ user: owner.sub, typing: true })
  await expect.poll(() => statesOf(watcher.channel)).toEqual({ pretender: [{ user: member.sub, typing: true }] })
})

test('a page that closes while its presence is written leaves none behind', async () => {
  const separate = await temporaryDatabase()
  const own = await startNode(separate, tokens, { databaseSweepMs: 3_600_000 })
  onTestFinished(() => own.close())
  const countRows = async (from: string) => {
    const { rows } = await separate.admin.query<{ count: number }>(`select count(*)::int as count from ${from}`)
    return rows[0]?.count
  }
  const client = await clientOn(own)
  const { channel } = await enter(client, `lobby:${randomUUID()}`, 'ghost')
  const locking = await separate.admin.connect()
  await locking.query('begin; lock table realtime.nodes in share row exclusive mode')
  void channel.track({ here: true })
  await expect
    .poll(() => countRows(`pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`))
    .toBe(1)
  await client.disconnect()
  await expect.poll(() => own.realtime.stats().channels).toBe(0)
  await locking.query('rollback')
  locking.release()
  await expect.poll(() => countRows('realtime.nodes')).toBe(1)
  await expect.poll(() => countRows('realtime.presences')).toBe(0)
})

test('a room that all have left is forgotten', async () => {
  const own = await startNode(database, tokens)
  onTestFinished(() => own.close())
  const client = await clientOn(own)
  const { channel, syncs } = await enter(client, `lobby:${randomUUID()}`, 'brief')
  await syncs.next()
  expect(own.realtime.stats().presenceRooms).toBe(1)
  await channel.unsubscribe()
  await expect.poll(() => own.realtime.stats()).toMatchObject({ channels: 0, presenceRooms: 0 })
})
