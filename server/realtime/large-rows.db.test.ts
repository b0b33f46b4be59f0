/** Rows and batches of any size, which one person writes while others listen. */
import { randomUUID } from 'node:crypto'
import type { RealtimeClient } from '@supabase/realtime-js'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Tokens } from '#server/access/tokens.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import {
  createRecorder,
  createTestTokens,
  live,
  openClient,
  type RealtimeNode,
  startNode,
  tokenOf,
} from '#test/realtime.ts'

type Person = Awaited<ReturnType<TestDatabase['createPerson']>>
interface Change {
  readonly eventType: string
  readonly new: Record<string, unknown>
  readonly old: Record<string, unknown>
  readonly errors: string[] | null
}

const TOO_LARGE = ['Error 413: Payload Too Large']
const NOTES_SQL = `
  create table public.notes (id int primary key, owner uuid, about jsonb, text text);
  alter table public.notes enable row level security;
  create policy own on public.notes to authenticated using (owner = (select auth.uid()));
  grant select, insert, update, delete on public.notes to authenticated, service_role;
  create table public.whole_notes (id int primary key, text text, short text);
  alter table public.whole_notes replica identity full;
  grant select, insert, update, delete on public.whole_notes to authenticated, service_role;
  alter publication supabase_realtime add table public.notes, public.whole_notes`

let database: TestDatabase
let tokens: Tokens
let node: RealtimeNode
let owner: Person
let stranger: Person
const clients: RealtimeClient[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  await database.admin.query(NOTES_SQL)
  tokens = await createTestTokens()
  node = await startNode(database, tokens)
})
beforeEach(async () => {
  owner = await database.createPerson()
  stranger = await database.createPerson()
  await database.admin.query('truncate notes, whole_notes')
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.disconnect()))
})
afterAll(async () => {
  await node.close()
  await database.drop()
})

async function listen(person: Person, table: string, filter?: string) {
  const client = await openClient(node, { apikey: tokens.anonKey, token: await tokenOf(tokens, person) })
  clients.push(client)
  const changes = createRecorder<Change>()
  const channel = client.channel(`test-${randomUUID()}`)
  const binding = { event: '*', schema: 'public', table, ...(filter === undefined ? {} : { filter }) } as const
  channel.on('postgres_changes', binding, (payload) => changes.add(payload as unknown as Change))
  const warnings = createRecorder<string>()
  channel.on('system', {}, ({ status, message }: { status: string; message: string }) => {
    if (status === 'error') warnings.add(message)
  })
  await live(channel)
  return { changes, warnings }
}

async function take(changes: { next(): Promise<Change> }, times: number): Promise<Change[]> {
  const taken: Change[] = []
  for (let count = 0; count < times; count += 1) taken.push(await changes.next())
  return taken
}

test('650 MB of rows in one statement reach their owner without their large columns, and others at all', async () => {
  const [own, others] = [await listen(owner, 'notes'), await listen(stranger, 'notes')]
  await database.admin.query(
    `insert into notes
     select i, case when i = 250 then $2::uuid else $1::uuid end, '{}', case when i = 250 then 'small' else repeat('x', 1300000) end
     from generate_series(1, 500) i`,
    [owner.sub, stranger.sub],
  )
  expect(await others.changes.next()).toMatchObject({ new: { id: 250, text: 'small' }, errors: null })
  const changes = await take(own.changes, 499)
  expect(changes.map(({ new: { id } }) => id)).toEqual(
    Array.from({ length: 500 }, (_, index) => index + 1).filter((id) => id !== 250),
  )
  expect(changes.every(({ errors, new: row }) => errors?.[0] === TOO_LARGE[0] && !('text' in row))).toBe(true)
}, 60_000)

test('rows below the limit that are large together arrive whole, in order, at each of many subscribers', async () => {
  const sockets = await Promise.all(Array.from({ length: 6 }, () => listen(owner, 'notes')))
  await database.admin.query(
    `insert into notes select i, $1, to_jsonb(repeat('j', 400000)), repeat('x', 400000) from generate_series(1, 40) i`,
    [owner.sub],
  )
  for (const { changes } of sockets) {
    const taken = await take(changes, 40)
    expect(taken.map(({ new: { id } }) => id)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
    expect(taken.every(({ new: { text }, errors }) => String(text).length === 400_000 && errors === null)).toBe(true)
  }
}, 60_000)

test('a row that is stored small but rendered large is cut too', async () => {
  const { changes } = await listen(owner, 'notes')
  await database.admin.query(`insert into notes values (1, $1, to_jsonb(repeat('j', 30000000)), 'short')`, [owner.sub])
  expect(await changes.next()).toMatchObject({ new: { id: 1, owner: owner.sub, text: 'short' }, errors: TOO_LARGE })
})

test('a filter reads the small columns of a large row; of a large one, the subscriber is told', async () => {
  const small = await listen(owner, 'notes', 'id=eq.7')
  const large = await listen(owner, 'notes', 'text=like.x*')
  await database.admin.query(`insert into notes values (7, $1, '{}', repeat('x', 1300000))`, [owner.sub])
  expect(await small.changes.next()).toMatchObject({ new: { id: 7 }, errors: TOO_LARGE })
  expect(await large.warnings.next()).toContain('The filter text=like.x* takes too much work')
  await database.admin.query(`insert into notes values (8, $1, '{}', 'xylophone')`, [owner.sub])
  expect(await large.changes.next()).toMatchObject({ new: { id: 8 } })
})

test('of a large old row, only small columns are recorded', async () => {
  const { changes } = await listen(owner, 'whole_notes')
  await database.admin.query(
    `insert into whole_notes select i, repeat('o', 1500000), 'short' from generate_series(1, 20) i`,
  )
  await take(changes, 20)
  await database.admin.query(`update whole_notes set text = 'new'`)
  const updates = await take(changes, 20)
  expect(updates.every(({ errors }) => errors?.[0] === TOO_LARGE[0])).toBe(true)
  expect(updates[0]).toMatchObject({ new: { text: 'new' }, old: { id: 1, short: 'short' } })
  const { rows } = await database.admin.query<{ largest: number }>(
    `select max(octet_length(old::text))::int as largest from realtime.changes where table_name = 'whole_notes'`,
  )
  expect(rows[0]?.largest).toBeLessThan(100)
})

test('old rows that are large together are read in pages', async () => {
  const { changes } = await listen(owner, 'whole_notes')
  await database.admin.query(
    `insert into whole_notes select i, repeat('o', 500000), 'short' from generate_series(1, 60) i`,
  )
  await take(changes, 60)
  await database.admin.query(`update whole_notes set text = 'new'`)
  const updates = await take(changes, 60)
  expect(updates.map(({ new: { id } }) => id)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
  expect(updates.every(({ old }) => String(old['text']).length === 500_000)).toBe(true)
}, 60_000)
