/** Channels of people whose rights end, on three nodes. */
import { REALTIME_SUBSCRIBE_STATES } from '@supabase/realtime-js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Tokens } from '#server/access/tokens.ts'
import { createLog } from '#server/base/log.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { addReadDocument } from '#test/library.ts'
import {
  createRecorder,
  createTestTokens,
  live,
  openClient,
  type RealtimeNode,
  startNode,
  subscribed,
  tokenOf,
} from '#test/realtime.ts'
import {
  ask,
  attemptAs,
  createConversation,
  createSpace,
  join,
  type Person,
  remove,
  runAs,
  setRole,
} from '#test/spaces.ts'
import { ACCESS_LOST, checkAccess } from './access-changes.ts'
import { PUBLIC_TOPIC } from './authorize.ts'
import type { Channel } from './channels.ts'

const WITHIN_MS = 1000

let db: TestDatabase
let tokens: Tokens
let nodes: RealtimeNode[]
let owner: Person
let member: Person
let space: string
let shared: string

beforeAll(async () => {
  db = await createTestDatabase()
  tokens = await createTestTokens()
  nodes = [await startNode(db, tokens), await startNode(db, tokens), await startNode(db, tokens)]
  ;[owner, member] = await Promise.all([db.createPerson(), db.createPerson()])
  space = await createSpace(db, owner)
  shared = await createConversation(db, owner, { space, isShared: true })
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()))
  await db.drop()
})

/** Joins a private channel. `ended` resolves with the reason when the server has closed it. */
async function hear(node: RealtimeNode, person: Person, topic: string) {
  const client = await openClient(node, {
    apikey: await tokenOf(tokens, { role: 'anon' }),
    token: await tokenOf(tokens, person),
  })
  onTestFinished(async () => {
    await client.disconnect()
  })
  const channel = client.channel(topic, { config: { private: true } })
  const reasons = createRecorder<string>()
  channel.on('system', {}, ({ message }: { message: string }) => reasons.add(message))
  const closed = Promise.withResolvers<undefined>()
  const joined = Promise.withResolvers<undefined>()
  channel.subscribe((status, error) => {
    if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED) joined.resolve(undefined)
    else if (status === REALTIME_SUBSCRIBE_STATES.CLOSED) closed.resolve(undefined)
    else joined.reject(error ?? new Error(status))
  })
  await joined.promise
  const ended = Promise.all([reasons.next(), closed.promise]).then(([reason]) => reason)
  return { channel, ended, reasons }
}

/** Channels of the space and of its shared conversation, for one person on every node. */
const hearEverywhere = (person: Person) =>
  Promise.all(
    nodes.flatMap((node) => [hear(node, person, `space:${space}`), hear(node, person, `conversation:${shared}`)]),
  )

test('a removal ends the channels, rows, answers and links of a person on every node, and those of nobody else', async () => {
  await join(db, owner, space, member, 'editor')
  const question = await ask(db, member, shared)
  await runAs(db, member, 'select create_link($1, 1, false)', [shared])
  const [others, own] = await Promise.all([hearEverywhere(owner), hearEverywhere(member)])
  const rows = createRecorder<string>()
  const [first] = nodes
  if (!first) throw new Error('no node')
  const client = await openClient(first, {
    apikey: await tokenOf(tokens, { role: 'anon' }),
    token: await tokenOf(tokens, member),
  })
  onTestFinished(async () => {
    await client.disconnect()
  })
  const changes = client.channel('rows')
  changes.on('postgres_changes', { event: '*', schema: 'public', table: 'conversations' }, ({ eventType }) =>
    rows.add(eventType),
  )
  await live(changes)

  const began = performance.now()
  await remove(db, owner, space, member)
  expect(await Promise.all(own.map(({ ended }) => ended))).toEqual(own.map(() => ACCESS_LOST))
  expect(performance.now() - began).toBeLessThan(WITHIN_MS)

  for (const table of ['spaces', 'space_members', 'conversations', 'messages', 'replies', 'message_texts'])
    expect(await attemptAs(db, member, `select from ${table}`), table).toBe(0)
  const { rows: replies } = await db.admin.query('select stop_requested from replies where message_id = $1', [question])
  expect(replies).toEqual([{ stop_requested: true }])
  expect((await db.admin.query('select from share_links')).rows).toEqual([])
  await runAs(db, owner, `update conversations set title = 'Secret' where id = $1`, [shared])
  // Changes arrive in order, so that the first of the own conversation follows all that could have come.
  await createConversation(db, member)
  expect(await rows.next()).toBe('INSERT')
  expect(others.map(({ reasons }) => reasons.waiting)).toEqual(others.map(() => []))
  for (const { channel } of others) expect(channel.state).toBe('joined')
  await expect(subscribed(client.channel(`space:${space}`, { config: { private: true } }))).rejects.toThrow(
    /permission|authoriz/i,
  )
})

test('a conversation that is no longer shared ends its channel for others, and its author goes on hearing it', async () => {
  await join(db, owner, space, member, 'reader')
  const own = await createConversation(db, owner, { space, isShared: true })
  const [first, second] = nodes
  if (!first || !second) throw new Error('too few nodes')
  const [author, reader, ofSpace] = await Promise.all([
    hear(first, owner, `conversation:${own}`),
    hear(second, member, `conversation:${own}`),
    hear(second, member, `space:${space}`),
  ])
  await runAs(db, owner, 'update conversations set is_shared = false where id = $1', [own])
  expect(await reader.ended).toBe(ACCESS_LOST)
  await setRole(db, owner, space, member, 'editor')
  expect(ofSpace.channel.state).toBe('joined')
  expect(author.channel.state).toBe('joined')
  await remove(db, owner, space, member)
  expect(await ofSpace.ended).toBe(ACCESS_LOST)
})

test('a space that is deleted ends the channels of all its members', async () => {
  await join(db, owner, space, member, 'reader')
  const all = (await Promise.all([hearEverywhere(owner), hearEverywhere(member)])).flat()
  const began = performance.now()
  await runAs(db, owner, 'delete from spaces where id = $1', [space])
  expect(await Promise.all(all.map(({ ended }) => ended))).toEqual(all.map(() => ACCESS_LOST))
  expect(performance.now() - began).toBeLessThan(WITHIN_MS)
})

test('members hear by their library that a document of a space is deleted, and nobody else hears of it', async () => {
  const [first] = nodes
  if (!first) throw new Error('no node')
  const stranger = await db.createPerson()
  const library = await createSpace(db, owner)
  await join(db, owner, library, member, 'reader')
  const { documentId } = await addReadDocument(db.database, owner, 'lamp.txt', ['The lamp.'], library)
  const follow = async (person: Person, filter?: string) => {
    const client = await openClient(first, {
      apikey: await tokenOf(tokens, { role: 'anon' }),
      token: await tokenOf(tokens, person),
    })
    onTestFinished(async () => {
      await client.disconnect()
    })
    const heard = createRecorder<unknown>()
    const channel = client.channel('documents')
    const binding = { event: 'DELETE' as const, schema: 'public', table: 'documents', ...(filter ? { filter } : {}) }
    channel.on('postgres_changes', binding, ({ old }) => heard.add(old))
    await live(channel)
    return heard
  }
  const [members, elsewhere, strangers] = [
    await follow(member, `library=eq.${library}`),
    await follow(member, `library=eq.${member.sub}`),
    await follow(stranger),
  ]
  const own = [
    (await addReadDocument(db.database, member, 'own.txt', ['Mine.'])).documentId,
    (await addReadDocument(db.database, stranger, 'own.txt', ['Theirs.'])).documentId,
  ] as const
  await runAs(db, owner, 'delete from documents where id = $1', [documentId])
  await runAs(db, member, 'delete from documents where id = $1', [own[0]])
  await runAs(db, stranger, 'delete from documents where id = $1', [own[1]])
  // Changes arrive in order, so that the first of the own document follows all that could have come.
  expect(await strangers.next()).toMatchObject({ id: own[1] })
  expect(await members.next()).toMatchObject({ id: documentId })
  expect(await elsewhere.next()).toMatchObject({ id: own[0] })
  for (const heard of [members, elsewhere, strangers]) expect(heard.waiting).toEqual([])
})

test('rights that were read for an earlier token are not those of the renewed one', async () => {
  const stranger = await db.createPerson()
  const owned = await createSpace(db, owner)
  const closed: string[] = []
  const channel = {
    name: `space:${owned}`,
    claims: { ...stranger, exp: 0 },
    subscriber: 'stranger',
    permissions: PUBLIC_TOPIC,
  } as Channel
  const locking = await db.admin.connect()
  await locking.query('begin; lock table realtime.messages in share row exclusive mode')
  const checking = checkAccess([channel], {
    database: db.database,
    log: createLog('silent'),
    close: (_, reason) => void closed.push(reason),
  })
  const countWaiting = async () =>
    (
      await db.admin.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).rowCount
  await expect.poll(countWaiting).toBe(1)
  Object.assign(channel, { claims: { ...owner, exp: 0 }, subscriber: 'owner' })
  await locking.query('rollback')
  locking.release()
  await checking
  expect(closed).toEqual([])
  expect(channel.permissions.broadcast.read).toBe(true)
})
