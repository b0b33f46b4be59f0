import { randomUUID } from 'node:crypto'
import type { RealtimeClient } from '@supabase/realtime-js'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Tokens } from '#server/access/tokens.ts'
import type { BatchReader } from '#server/database/batch-reader.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { isInOrder } from '#test/nats.ts'
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

type Person = Awaited<ReturnType<TestDatabase['createPerson']>>
interface Change {
  readonly eventType: 'INSERT' | 'UPDATE' | 'DELETE'
  readonly schema: string
  readonly table: string
  readonly commit_timestamp: string
  readonly new: Record<string, unknown>
  readonly old: Record<string, unknown>
  readonly errors: string[] | null
}
interface Wanted {
  readonly event?: '*' | 'INSERT' | 'UPDATE' | 'DELETE'
  readonly schema?: string
  readonly table?: string
  readonly filter?: string
  readonly select?: string[]
}

let database: TestDatabase
let tokens: Tokens
let node: RealtimeNode
let owner: Person
let stranger: Person
const clients: RealtimeClient[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  tokens = await createTestTokens()
  node = await startNode(database, tokens)
})
beforeEach(async () => {
  owner = await database.createPerson()
  stranger = await database.createPerson()
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.disconnect()))
})
afterAll(async () => {
  await node.close()
  await database.drop()
})

async function clientOf(person: Person | 'anon' | 'service', vsn: '1.0.0' | '2.0.0' = '2.0.0', on = node) {
  const token =
    person === 'anon' ? tokens.anonKey : person === 'service' ? tokens.serviceRoleKey : await tokenOf(tokens, person)
  const client = await openClient(on, { apikey: tokens.anonKey, token, vsn })
  clients.push(client)
  return client
}

async function listen(client: RealtimeClient, { event = '*', schema = 'public', ...rest }: Wanted = {}) {
  const changes = createRecorder<Change>()
  const channel = client.channel(`test-${randomUUID()}`)
  channel.on('postgres_changes', { event: event as '*', schema, ...rest }, (payload) =>
    changes.add(payload as unknown as Change),
  )
  await live(channel)
  return changes
}

async function createConversation(person: Person, title = 'First'): Promise<string> {
  const id = randomUUID()
  await database.database.asUser(person, (scope) =>
    scope.query(`insert into conversations (id, uid, title, model_name) values ($1, $2, $3, 'alcove-reader')`, [
      id,
      person.sub,
      title,
    ]),
  )
  return id
}

const ask = (person: Person, conversation: string, content: string) =>
  database.database.asUser(person, (scope) =>
    scope.query('insert into messages (conversation_id, content, sender_role) values ($1, $2, 1)', [
      conversation,
      content,
    ]),
  )

test.each(['1.0.0', '2.0.0'] as const)('an insert reaches its owner with every column, over %s', async (vsn) => {
  const changes = await listen(await clientOf(owner, vsn), { event: 'INSERT', table: 'conversations' })
  const id = await createConversation(owner)
  const change = await changes.next()
  expect(change).toMatchObject({ eventType: 'INSERT', schema: 'public', table: 'conversations', errors: null, old: {} })
  expect(change.new).toMatchObject({ id, uid: owner.sub, title: 'First', metadata: {}, pinned: false, ended_at: null })
  expect(change.commit_timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('people who follow one table share the values of a row, and each hears of its own rows only', async () => {
  await database.admin.query(`
    create table public.shelves (id int primary key, readers uuid[], amount numeric);
    alter table public.shelves enable row level security;
    create policy "readers" on public.shelves for select to authenticated using ((select auth.uid()) = any (readers));
    grant select on public.shelves to authenticated;
    alter table public.shelves replica identity full;
    alter publication supabase_realtime add table public.shelves`)
  const failures: unknown[] = []
  const readAsEach: BatchReader['readAsEach'] = (...read) =>
    database.batchReader.readAsEach(...read).catch((error: unknown) => {
      failures.push(error)
      throw error
    })
  const watched = await startNode({ ...database, batchReader: { readAsEach } }, tokens)
  onTestFinished(() => watched.close())
  const people = [owner, stranger, await database.createPerson()]
  const heard = await Promise.all(
    people.map(async (person) => listen(await clientOf(person, '2.0.0', watched), { table: 'shelves' })),
  )
  // Each pair begins with another person, and the last row is everybody's.
  const readers = [...people.map((_, index) => [index, (index + 1) % 3]), [2], [0, 1, 2]]
  await database.admin.query(
    `insert into public.shelves
     select position, array(select value::uuid from jsonb_array_elements_text(readers)), 12345678901234567890.5
     from jsonb_array_elements($1) with ordinality as given (readers, position)`,
    [JSON.stringify(readers.map((indexes) => indexes.map((index) => people[index]?.sub)))],
  )
  for (const [index, changes] of heard.entries()) {
    const expected = readers.flatMap((of, position) => (of.includes(index) ? [position + 1] : []))
    const rows = []
    while (rows.at(-1)?.['id'] !== readers.length) rows.push((await changes.next()).new)
    expect(rows.map(({ id }) => id)).toEqual(expected)
    expect(rows.every(({ readers: of }) => (of as string[]).includes(people[index]?.sub ?? ''))).toBe(true)
  }
  const old = { id: 5, amount: 12345678901234567890.5 }
  await database.admin.query('update public.shelves set amount = 2 where id = 5')
  for (const changes of heard)
    expect(await changes.next()).toMatchObject({ eventType: 'UPDATE', new: { id: 5, amount: 2 }, old })
  await database.admin.query('delete from public.shelves where id = 5')
  for (const changes of heard) expect(await changes.next()).toMatchObject({ eventType: 'DELETE', old: { id: 5 } })
  // A batch that fails is repeated for each person alone, with the same outcome.
  expect(failures).toEqual([])
})

test('people who follow one table each receive the columns that they chose', async () => {
  await database.admin.query(`
    create table public.chosen (id int primary key, title text, body text);
    grant select on public.chosen to authenticated;
    alter publication supabase_realtime add table public.chosen`)
  const choices = [undefined, [], ['id'], ['title', 'id'], ['id', 'title'], undefined]
  const heard = []
  for (const select of choices) {
    const person = await database.createPerson()
    heard.push(await listen(await clientOf(person), { table: 'chosen', ...(select ? { select } : {}) }))
  }
  const row = { id: 1, title: 'A title', body: 'A body' }
  await database.admin.query('insert into public.chosen values ($1, $2, $3)', Object.values(row))
  const received = await Promise.all(heard.map(async (changes) => (await changes.next()).new))
  expect(received).toEqual([row, {}, { id: 1 }, { id: 1, title: 'A title' }, { id: 1, title: 'A title' }, row])
})

test('columns may have the names of aliases in our statements', async () => {
  await database.admin.query(`
    create table public.short_names (id int primary key, n int, r int, o int, k int, i int, c int, t text);
    grant select, insert, update, delete on public.short_names to authenticated;
    alter publication supabase_realtime add table public.short_names`)
  const changes = await listen(await clientOf(owner), { table: 'short_names' })
  const row = { id: 1, n: 2, r: 3, o: 4, k: 5, i: 6, c: 7, t: 'text' }
  await database.admin.query('insert into public.short_names values (1, 2, 3, 4, 5, 6, 7, $1)', ['text'])
  expect(await changes.next()).toMatchObject({ eventType: 'INSERT', new: row })
  await database.admin.query('update public.short_names set n = 9')
  expect(await changes.next()).toMatchObject({ eventType: 'UPDATE', new: { ...row, n: 9 } })
  await database.admin.query('delete from public.short_names')
  expect(await changes.next()).toMatchObject({ eventType: 'DELETE', old: { id: 1 } })
})

test('another user and an anonymous client receive nothing', async () => {
  const strangers = await listen(await clientOf(stranger))
  const nobodys = await listen(await clientOf('anon'))
  const conversation = await createConversation(owner)
  await ask(owner, conversation, 'A secret')
  await database.admin.query('update conversations set title = $2 where id = $1', [conversation, 'Renamed'])
  await database.admin.query('delete from conversations where id = $1', [conversation])
  // A visible change follows, and is the first that they receive.
  const own = await createConversation(stranger)
  expect((await strangers.next()).new['id']).toBe(own)
  expect(strangers.waiting).toEqual([])
  expect(nobodys.waiting).toEqual([])
})

test('a filter delivers only matching rows', async () => {
  const [first, second] = [await createConversation(owner), await createConversation(owner)]
  const changes = await listen(await clientOf(owner), {
    event: 'INSERT',
    table: 'messages',
    filter: `conversation_id=eq.${second}`,
  })
  await ask(owner, first, 'elsewhere')
  await ask(owner, second, 'here')
  expect((await changes.next()).new).toMatchObject({ conversation_id: second, content: 'here', sender_role: 1 })
  expect(changes.waiting).toEqual([])
})

test('a filter requires all of its conditions', async () => {
  const changes = await listen(await clientOf(owner), {
    table: 'conversations',
    filter: `uid=eq.${owner.sub},title=like.B%`,
  })
  await createConversation(owner, 'A plain one')
  await createConversation(owner, 'Better')
  expect((await changes.next()).new['title']).toBe('Better')
})

test('a subscription without a table receives changes of every published table in order', async () => {
  const changes = await listen(await clientOf(owner))
  const conversation = await createConversation(owner)
  await ask(owner, conversation, 'Hello')
  await database.admin.query('update conversations set pinned = true where id = $1', [conversation])
  const heard = [await changes.next(), await changes.next(), await changes.next()]
  expect(heard.map(({ table, eventType }) => `${eventType} ${table}`)).toEqual([
    'INSERT conversations',
    'INSERT messages',
    'UPDATE conversations',
  ])
  expect(heard[2]).toMatchObject({ new: { pinned: true }, old: { id: conversation } })
})

test('two bindings of one channel each receive their own changes', async () => {
  const client = await clientOf(owner)
  const [inserts, updates] = [createRecorder<Change>(), createRecorder<Change>()]
  const channel = client.channel('two')
  channel.on('postgres_changes', { event: 'INSERT', schema: 'public', table: 'conversations' }, (change) =>
    inserts.add(change as unknown as Change),
  )
  channel.on(
    'postgres_changes',
    { event: 'UPDATE', schema: 'public', table: 'conversations', select: ['id', 'title'] },
    (change) => updates.add(change as unknown as Change),
  )
  await live(channel)
  const id = await createConversation(owner)
  await database.admin.query(`update conversations set title = 'New' where id = $1`, [id])
  expect((await inserts.next()).new['id']).toBe(id)
  expect((await updates.next()).new).toEqual({ id, title: 'New' })
  expect(inserts.waiting).toEqual([])
})

test('a deleted row sends only its key, to subscribers who could see it', async () => {
  const changes = await listen(await clientOf(owner), { event: 'DELETE' })
  const filtered = await listen(await clientOf(owner), {
    event: '*',
    table: 'conversations',
    filter: `uid=eq.${owner.sub}`,
  })
  const foreign = await listen(await clientOf(stranger), { event: 'DELETE' })
  const id = await createConversation(owner)
  expect((await filtered.next()).eventType).toBe('INSERT')
  await ask(owner, id, 'gone with it')
  await database.database.asUser(owner, (scope) => scope.query('delete from conversations where id = $1', [id]))
  expect(await changes.next()).toMatchObject({ eventType: 'DELETE', table: 'conversations', old: { id }, new: {} })
  expect((await filtered.next()).old).toEqual({ id })
  const own = await createConversation(stranger)
  await database.admin.query('delete from conversations where id = $1', [own])
  expect((await foreign.next()).old).toEqual({ id: own })
  expect(changes.waiting).toEqual([])
})

test('a deleted message is delivered to the owner of its conversation', async () => {
  const conversation = await createConversation(owner)
  await ask(owner, conversation, 'one')
  const changes = await listen(await clientOf(owner), {
    event: 'DELETE',
    table: 'messages',
    filter: `conversation_id=eq.${conversation}`,
  })
  const foreign = await listen(await clientOf(stranger), { event: 'DELETE' })
  const { rows } = await database.admin.query<{ id: string }>(
    'delete from messages where conversation_id = $1 returning id',
    [conversation],
  )
  expect((await changes.next()).old).toEqual({ id: rows[0]?.id })
  const own = await createConversation(stranger)
  await database.admin.query('delete from conversations where id = $1', [own])
  expect((await foreign.next()).table).toBe('conversations')
})

test('an update that moves a row to another person reaches the new owner without the old row', async () => {
  await database.admin.query('alter table conversations replica identity full')
  try {
    const [before, after] = [await listen(await clientOf(owner)), await listen(await clientOf(stranger))]
    const id = await createConversation(owner, 'Private thoughts')
    expect((await before.next()).eventType).toBe('INSERT')
    await database.admin.query(`update conversations set uid = $2, title = 'Handed over' where id = $1`, [
      id,
      stranger.sub,
    ])
    const moved = await after.next()
    expect(moved).toMatchObject({ eventType: 'UPDATE', new: { id, title: 'Handed over' } })
    expect(moved.old).toEqual({ id })
    await database.admin.query(`update conversations set title = 'Mine' where id = $1`, [id])
    expect((await after.next()).old).toMatchObject({ id, uid: stranger.sub, title: 'Handed over' })
    const own = await createConversation(owner)
    expect((await before.next()).new['id']).toBe(own)
  } finally {
    await database.admin.query('alter table conversations replica identity default')
  }
})

test('the service role receives every change', async () => {
  const changes = await listen(await clientOf('service'), { event: 'DELETE', table: 'messages' })
  const conversation = await createConversation(owner)
  await ask(owner, conversation, 'x')
  await database.admin.query('delete from conversations where id = $1', [conversation])
  expect((await changes.next()).table).toBe('messages')
})

test('many rows of one statement all arrive, in order', async () => {
  const conversation = await createConversation(owner)
  const changes = await listen(await clientOf(owner), { event: 'INSERT', table: 'messages' })
  await database.admin.query(
    `insert into messages (conversation_id, content, sender_role) select $1, n::text, 2 from generate_series(1, 1234) n`,
    [conversation],
  )
  for (let expected = 1; expected <= 1234; expected += 1)
    expect((await changes.next()).new['content']).toBe(String(expected))
})

test('rolled back changes are never delivered, and late commits are', async () => {
  const changes = await listen(await clientOf(owner), { event: 'INSERT', table: 'conversations' })
  const [late, undone] = [await database.admin.connect(), await database.admin.connect()]
  const insert = `insert into conversations (uid, title, model_name) values ($1, $2, 'm')`
  await late.query('begin')
  await late.query(insert, [owner.sub, 'late'])
  await undone.query('begin')
  await undone.query(insert, [owner.sub, 'undone'])
  await createConversation(owner, 'early')
  await undone.query('rollback')
  await late.query('commit')
  undone.release()
  late.release()
  const heard = [(await changes.next()).new['title'], (await changes.next()).new['title']]
  expect(isInOrder() ? heard : heard.sort()).toEqual(['early', 'late'])
})

test('a lost listening connection neither loses nor repeats a change', async () => {
  const changes = await listen(await clientOf(owner), { event: 'INSERT', table: 'conversations' })
  const open = await database.admin.connect()
  await open.query('begin')
  await open.query(`insert into conversations (uid, title, model_name) values ($1, 'open over the loss', 'm')`, [
    owner.sub,
  ])
  await createConversation(owner, 'before')
  expect((await changes.next()).new['title']).toBe('before')
  await database.admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'alcove listener' and datname = current_database()`,
  )
  await createConversation(owner, 'between')
  await open.query('commit')
  open.release()
  const heard = [(await changes.next()).new['title'], (await changes.next()).new['title']]
  expect(heard.sort()).toEqual(['between', 'open over the loss'])
  await createConversation(owner, 'after')
  expect((await changes.next()).new['title']).toBe('after')
})

test('every node of a database delivers', async () => {
  const other = await startNode(database, tokens)
  try {
    const [here, there] = [await listen(await clientOf(owner)), await listen(await clientOf(owner, '2.0.0', other))]
    const id = await createConversation(owner)
    expect((await here.next()).new['id']).toBe(id)
    expect((await there.next()).new['id']).toBe(id)
    await Promise.all(clients.splice(0).map((client) => client.disconnect()))
  } finally {
    await other.close()
  }
})

test('a table is followed while it is published, under its current policies', async () => {
  await database.admin.query(`
    create table notes (id bigint generated always as identity (start with 9007199254740993) primary key, owner uuid, body text, hidden text);
    alter table notes enable row level security;
    create policy "owner reads own notes" on notes for select to authenticated using (owner = auth.uid());
    grant select (id, owner, body) on notes to authenticated;
    alter publication supabase_realtime add table notes`)
  const insert = `insert into notes (owner, body, hidden) values ($1, $2, 'x')`
  try {
    const [own, foreign] = [
      await listen(await clientOf(owner), { table: 'notes' }),
      await listen(await clientOf(stranger), { table: 'notes', filter: 'body=neq.nothing' }),
    ]
    await database.admin.query(insert, [owner.sub, 'mine'])
    const { new: record } = await own.next()
    expect(record).toEqual({ id: Number('9007199254740993'), owner: owner.sub, body: 'mine' })
    await database.admin.query(
      `create policy "everyone reads" on notes for select to authenticated using (body <> 'private')`,
    )
    await database.admin.query(insert, [owner.sub, 'private'])
    await database.admin.query(insert, [owner.sub, 'for all'])
    expect((await foreign.next()).new['body']).toBe('for all')
    await database.admin.query(`delete from notes where body = 'private'`)
    await database.admin.query(`delete from notes where body = 'for all'`)
    expect((await foreign.next()).eventType).toBe('DELETE')
    await database.admin.query('alter publication supabase_realtime drop table notes')
    const { rows } = await database.admin.query(`select from pg_trigger where tgrelid = 'notes'::regclass`)
    expect(rows).toEqual([])
    // The node learns of it a moment later.
    const refusal = async () =>
      String(await listen(await clientOf(owner), { table: 'notes' }).catch((error: unknown) => error))
    await expect.poll(refusal).toMatch(/Unable to subscribe.*table: notes/)
  } finally {
    await database.admin.query('drop table notes')
  }
})

test.each([
  [
    'a table that is not published',
    { table: 'user_settings' },
    /Unable to subscribe to changes.*public, table: user_settings/,
  ],
  ['a column that does not exist', { table: 'messages', filter: 'secret=eq.1' }, /invalid column for filter secret/],
  ['an unknown operator', { table: 'messages', filter: 'content=resembles.x' }, /Unable to subscribe/],
  ['a value that is none of its type', { table: 'messages', filter: 'sender_role=eq.user' }, /invalid input syntax/],
  ['a filter that is too long', { table: 'messages', filter: `content=eq.${'('.repeat(9_000)}` }, /8192 characters/],
])('the system message rejects %s, and the channel stays joined', async (_, wanted, reason) => {
  await expect(listen(await clientOf(owner), wanted)).rejects.toThrow(reason)
  expect(clients.at(-1)?.getChannels()[0]?.state).toBe('joined')
})

test('a join with wait is rejected with the reason', async () => {
  const channel = (await clientOf(owner)).channel('waits', { config: { postgres_changes_options: { wait: true } } })
  channel.on('postgres_changes', { event: '*', schema: 'public', table: 'user_settings' }, () => undefined)
  await expect(subscribed(channel)).rejects.toThrow(/^RealtimeDisabledForConfiguration: Unable to subscribe/)
})

test('a table without a key sends an error and no row', async () => {
  await database.admin.query(`create table loose (body text); grant select on loose to authenticated;
    alter publication supabase_realtime add table loose`)
  try {
    const changes = await listen(await clientOf(owner), { table: 'loose' })
    await database.admin.query(`insert into loose values ('x')`)
    expect(await changes.next()).toMatchObject({ errors: ['Error 400: Bad Request, no primary key'], new: {} })
  } finally {
    await database.admin.query('drop table loose')
  }
})

test('a row over a megabyte is sent without its large columns', async () => {
  const conversation = await createConversation(owner)
  const changes = await listen(await clientOf(owner), { table: 'messages' })
  await ask(owner, conversation, 'x'.repeat(1_100_000))
  const change = await changes.next()
  expect(change.errors).toEqual(['Error 413: Payload Too Large'])
  expect(change.new).toMatchObject({ conversation_id: conversation })
  expect(change.new).not.toHaveProperty('content')
})

test('a filter that takes too much work misses the change, says so once, and spares the other bindings', async () => {
  const channel = (await clientOf(owner)).channel('costly')
  const [said, costly, plain] = [
    createRecorder<{ status: string; message: string }>(),
    createRecorder<Change>(),
    createRecorder<Change>(),
  ]
  channel.on('system', {}, (payload: { status: string; message: string }) => said.add(payload))
  const hostile = { event: '*', schema: 'public', table: 'conversations', filter: 'title=match.a{0,240}b' } as const
  channel.on('postgres_changes', hostile, (change) => costly.add(change as unknown as Change))
  const own = { ...hostile, filter: `uid=eq.${owner.sub}` }
  channel.on('postgres_changes', own, (change) => plain.add(change as unknown as Change))
  await subscribed(channel)
  expect(await said.next()).toMatchObject({ status: 'ok' })
  for (const _ of ['first', 'second']) {
    const id = await createConversation(owner, 'a'.repeat(20_000))
    expect((await plain.next()).new['id']).toBe(id)
  }
  const short = await createConversation(owner, 'aab')
  expect((await plain.next()).new['id']).toBe(short)
  expect((await costly.next()).new['id']).toBe(short)
  const notice = await said.next()
  expect(notice).toMatchObject({ extension: 'postgres_changes', status: 'error' })
  expect(notice.message).toMatch(/^The filter title=match\.a\{0,240\}b takes too much work/)
  expect([...said.waiting, ...costly.waiting, ...plain.waiting]).toEqual([])
})
