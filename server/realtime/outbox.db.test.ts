import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createLog } from '#server/base/log.ts'
import { type Listener, openListener } from '#server/database/listen.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { createRecorder } from '#test/realtime.ts'
import { followOutbox } from './outbox-follow.ts'
import { scanOutbox } from './outbox-scan.ts'
import type { Change } from './outbox.ts'
import { createRetry } from './retry.ts'

const recorded = z.array(
  z.object({
    op: z.string(),
    table: z.string(),
    key: z.record(z.string(), z.string()).nullable(),
    old: z.record(z.string(), z.unknown()).nullable(),
  }),
)

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.admin.query(`
    create table pairs (a integer, b text, body text, primary key (b, a));
    alter publication supabase_realtime add table pairs`)
})
beforeEach(() => database.admin.query('truncate pairs, realtime.changes'))
afterAll(() => database.drop())

async function readRecorded() {
  const { rows } = await database.admin.query(
    'select op, table_name as table, key, old from realtime.changes order by id',
  )
  return recorded.parse(rows)
}

/** `onListening` runs when notifications arrive, before anything else of the start. */
async function startFollowing(
  follow: typeof followOutbox,
  onListening: (listener: Listener) => Promise<void> = async () => undefined,
) {
  const log = createLog('silent')
  const listener = await openListener(database.connection, log)
  const changes = createRecorder<Change>()
  const outbox = await follow({
    database: database.database,
    listener: {
      ...listener,
      async on(channel, handler) {
        const stop = await listener.on(channel, handler)
        await onListening(listener)
        return stop
      },
    },
    log,
    retry: createRetry(log, () => false),
    deliver: async (batch) => batch.forEach((change) => changes.add(change)),
    onSchemaChange: () => undefined,
    onRestart: () => undefined,
  })
  return { listener, changes, outbox }
}

async function isBehindEverything() {
  const { rows } = await database.admin.query<{ isBehind: boolean }>(
    'select max(xid) < pg_snapshot_xmin(pg_current_snapshot()) as "isBehind" from realtime.changes',
  )
  return rows[0]?.isBehind
}

const triggersOf = async (table: string) => {
  const { rows } = await database.admin.query<{ name: string; olds: string }>(
    `select tgname as name, split_part(encode(tgargs, 'escape'), '\\000', 2) as olds
     from pg_trigger where tgrelid = $1::regclass and tgname like 'realtime%' order by 1`,
    [table],
  )
  return Object.fromEntries(rows.map(({ name, olds }) => [name, olds]))
}

test('a statement records each row with its key and the identity of the old row', async () => {
  await database.admin.query(`insert into pairs values (1, 'x', 'one'), (2, 'x', 'two')`)
  await database.admin.query(`update pairs set a = a + 10, body = body || '!'`)
  await database.admin.query(`delete from pairs where a = 11`)
  expect(await readRecorded()).toEqual([
    { op: 'INSERT', table: 'pairs', key: { a: '1', b: 'x' }, old: null },
    { op: 'INSERT', table: 'pairs', key: { a: '2', b: 'x' }, old: null },
    { op: 'UPDATE', table: 'pairs', key: { a: '11', b: 'x' }, old: { a: 1, b: 'x' } },
    { op: 'UPDATE', table: 'pairs', key: { a: '12', b: 'x' }, old: { a: 2, b: 'x' } },
    { op: 'DELETE', table: 'pairs', key: { a: '11', b: 'x' }, old: { a: 11, b: 'x' } },
  ])
})

test('an upsert records what it inserted and what it updated', async () => {
  await database.admin.query(`insert into pairs values (1, 'x', 'one')`)
  await database.admin.query(
    `insert into pairs values (1, 'x', 'again'), (2, 'x', 'two') on conflict (a, b) do update set body = excluded.body`,
  )
  const operations = (await readRecorded()).map(({ op, key }) => `${op} ${key?.['a'] ?? ''}`)
  expect(operations.sort()).toEqual(['INSERT 1', 'INSERT 2', 'UPDATE 1'])
})

test('the triggers record only the columns that the policies read', async () => {
  expect(await triggersOf('conversations')).toEqual({
    realtime_delete: '{id,is_shared,space_id,uid}',
    realtime_insert: '{}',
    realtime_update: '{id}',
  })
  expect(await triggersOf('messages')).toMatchObject({ realtime_delete: '{conversation_id,id}' })
  expect(await triggersOf('pairs')).toMatchObject({ realtime_delete: '{a,b}', realtime_update: '{a,b}' })
})

test('triggers follow the replica identity, the policies and the publication', async () => {
  await database.admin.query('alter table pairs replica identity full')
  expect(await triggersOf('pairs')).toMatchObject({ realtime_delete: '*', realtime_update: '*' })
  await database.admin.query('alter table pairs replica identity default')
  await database.admin.query(`create policy "by body" on pairs for select using (body = 'x')`)
  expect(await triggersOf('pairs')).toMatchObject({ realtime_delete: '{a,b,body}' })
  await database.admin.query(`alter policy "by body" on pairs using (pairs is not null)`)
  expect(await triggersOf('pairs')).toMatchObject({ realtime_delete: '*' })
  await database.admin.query(`drop policy "by body" on pairs`)
  await database.admin.query(`alter publication supabase_realtime set (publish = 'insert')`)
  expect(Object.keys(await triggersOf('pairs'))).toEqual(['realtime_insert'])
  await database.admin.query(`alter publication supabase_realtime set (publish = 'insert, update, delete')`)
  await database.admin.query('alter publication supabase_realtime drop table pairs')
  expect(await triggersOf('pairs')).toEqual({})
  await database.admin.query('alter event trigger realtime_follow_schema disable')
  await database.admin.query('alter publication supabase_realtime add table pairs')
  expect(await triggersOf('pairs')).toEqual({})
  await database.admin.query('select realtime.watch_publication()')
  expect(Object.keys(await triggersOf('pairs'))).toHaveLength(3)
  await database.admin.query('alter event trigger realtime_follow_schema enable')
})

test('a write succeeds although it cannot be recorded', async () => {
  await database.admin.query('alter table realtime.changes add constraint never check (false) not valid')
  try {
    await database.admin.query(`insert into pairs values (1, 'x', 'one')`)
  } finally {
    await database.admin.query('alter table realtime.changes drop constraint never')
  }
  expect((await database.admin.query('select from pairs')).rowCount).toBe(1)
  expect(await readRecorded()).toEqual([])
})

test('10,000 statements of one transaction notify as rarely as possible and are all delivered once', async () => {
  const { listener, changes, outbox } = await startFollowing(followOutbox)
  const rings: string[] = []
  await listener.on('realtime_changes', (payload) => rings.push(payload))
  await database.admin.query(`insert into pairs select n, 'bulk', '' from generate_series(1, 10000) n`)
  await database.admin.query(`insert into pairs values (0, $1, '')`, ['k'.repeat(2_000)])
  const seen = []
  for (let n = 0; n < 10_001; n += 1) seen.push(Number((await changes.next()).key?.['a']))
  // The second transaction may pass pages of the first.
  expect(seen.filter((a) => a !== 0)).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1))
  expect(seen).toContain(0)
  expect(rings).toHaveLength(2)
  await outbox.close()
  await listener.close()
})

test.each([
  ['a change', (n: number) => `insert into pairs values (${n}, 'x', '')`],
  ['a transaction', (n: number) => `insert into pairs select ${n}, 'b' || i, '' from generate_series(1, 1000) i`],
])('%s that is notified before the position is known is delivered', async (_, insert) => {
  const { listener, changes, outbox } = await startFollowing(followOutbox, async (source) => {
    const heard = createRecorder<string>()
    await source.on('realtime_changes', (payload) => heard.add(payload))
    await database.admin.query(insert(1))
    await heard.next()
  })
  expect((await changes.next()).key?.['a']).toBe('1')
  await outbox.close()
  await listener.close()
})

test.each([
  ['told of', followOutbox],
  ['looked for', scanOutbox],
])('a malformed recorded change does not block those it was %s with', async (_, follow) => {
  const { listener, changes, outbox } = await startFollowing(follow)
  await database.admin.query(`
    begin;
    insert into realtime.changes (table_schema, table_name, op, key) values ('public', 'pairs', 'INSERT', '["no key"]');
    insert into pairs values (1, 'x', 'one'), (2, 'x', 'two');
    commit`)
  expect([(await changes.next()).key, (await changes.next()).key]).toEqual([
    { a: '1', b: 'x' },
    { a: '2', b: 'x' },
  ])
  await database.admin.query(`insert into pairs values (3, 'x', 'three')`)
  expect((await changes.next()).key).toEqual({ a: '3', b: 'x' })
  await outbox.close()
  await listener.close()
})

test('changes delivered long ago are removed, and recent ones stay', async () => {
  const log = createLog('silent')
  const listener = await openListener(database.connection, log)
  let now = Date.now()
  const outbox = await followOutbox({
    database: database.database,
    listener,
    log,
    retry: createRetry(log, () => false),
    deliver: () => Promise.resolve(),
    onSchemaChange: () => undefined,
    onRestart: () => undefined,
    clock: () => now,
  })
  const heard = createRecorder<string>()
  await listener.on('realtime_changes', (payload) => heard.add(payload))
  await database.admin.query(`insert into pairs values (1, 'x', '')`)
  await heard.next()
  // A transaction in any database of the cluster delays the horizon, including those of other tests.
  await expect.poll(isBehindEverything).toBe(true)
  await outbox.sweep()
  await heard.next()
  now += 14 * 60_000
  await outbox.sweep()
  expect(await readRecorded()).toHaveLength(1)
  now += 2 * 60_000
  await database.admin.query(`insert into pairs values (2, 'x', '')`)
  await outbox.sweep()
  expect((await readRecorded()).map(({ key }) => key?.['a'])).toEqual(['2'])
  await outbox.close()
  await listener.close()
})
