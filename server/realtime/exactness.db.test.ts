/** Each subscriber receives exactly the rows that its own select shows, before and after every write. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Tokens } from '#server/access/tokens.ts'
import type { Claims } from '#server/database/scope.ts'
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

const TABLES = ['cards', 'tags'] as const
type TableName = (typeof TABLES)[number]
type Row = Readonly<Record<string, unknown>>

interface Heard {
  readonly table: string
  readonly eventType: string
  readonly new: Row
  readonly old: Row
}

interface Watcher {
  readonly name: string
  readonly claims: Claims
  /** Filter of the subscription, and its SQL. */
  readonly filter: { readonly text: string; readonly sql: string } | undefined
  readonly heard: ReturnType<typeof createRecorder<Heard>>
}

/** The old row of `cards` is recorded completely, that of `tags` only by its key; no person may read `secret`. */
const schemaOf = (table: TableName) => `
  create table ${table} (
    id integer primary key, owner uuid not null, title text, level integer not null, is_public boolean not null,
    secret text not null default 'secret'
  );
  alter table ${table} enable row level security;
  create policy "owner reads" on ${table} for select to authenticated using (owner = (select auth.uid()));
  create policy "everyone reads what is public" on ${table} for select using (is_public);
  create policy "readers of a share read" on ${table} for select to authenticated
    using (exists (select from shares s where s.card = ${table}.id and s.person = auth.uid()));
  create policy "nobody but its owner reads above nine" on ${table} as restrictive for select
    using (level < 9 or owner = (select auth.uid()));
  create policy "owner writes" on ${table} for all to authenticated
    using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
  grant select (id, owner, title, level, is_public) on ${table} to anon, authenticated;
  grant insert (id, owner, title, level, is_public), update (title, level, is_public), delete on ${table} to authenticated;
  grant all on ${table} to service_role;
  alter publication supabase_realtime add table ${table};`

const SCHEMA = `
  create table shares (card integer not null, person uuid not null);
  alter table shares enable row level security;
  create policy "people see what is shared with them" on shares for select to authenticated using (person = auth.uid());
  grant select on shares to authenticated;
  ${TABLES.map(schemaOf).join('')}
  alter table cards replica identity full;
  create table marks (id uuid primary key);
  grant select on marks to anon, authenticated, service_role;
  alter publication supabase_realtime add table marks`

let database: TestDatabase
let tokens: Tokens
let node: RealtimeNode
let people: Awaited<ReturnType<TestDatabase['createPerson']>>[]
const watchers: Watcher[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  await database.admin.query(SCHEMA)
  tokens = await createTestTokens()
  node = await startNode(database, tokens)
  people = await Promise.all(Array.from({ length: 5 }, () => database.createPerson()))
  const high = { text: 'level=gte.5', sql: 'level >= 5' }
  for (const [index, claims] of people.entries()) {
    await watch(`person ${index}`, claims, undefined)
    await watch(`person ${index} from level 5`, claims, high)
  }
  await watch('nobody', { role: 'anon' }, undefined)
  await watch('the service', { role: 'service_role' }, undefined)
})
afterAll(async () => {
  await node.close()
  await database.drop()
})

async function watch(name: string, claims: Claims, filter: Watcher['filter']): Promise<void> {
  const { role } = claims
  const token =
    role === 'anon' ? tokens.anonKey : role === 'service_role' ? tokens.serviceRoleKey : await tokenOf(tokens, claims)
  const client = await openClient(node, { apikey: tokens.anonKey, token })
  const heard = createRecorder<Heard>()
  const channel = client.channel(randomUUID())
  for (const table of [...TABLES, 'marks']) {
    const filtered = filter && table !== 'marks' ? { filter: filter.text } : {}
    channel.on('postgres_changes', { event: '*', schema: 'public', table, ...filtered }, (change) =>
      heard.add(change as unknown as Heard),
    )
  }
  await live(channel)
  watchers.push({ name, claims, filter, heard })
}

/** Version by row id. */
type Rows = ReadonlyMap<number, Row>

async function visibleRows(claims: Claims, table: TableName, condition = 'true'): Promise<Rows> {
  const columns = claims.role === 'service_role' ? '*' : 'id, owner, title, level, is_public'
  const { rows } = await database.database.asUser(claims, (scope) =>
    scope.query<Row & { id: number }>(`select ${columns} from ${table} where ${condition}`),
  )
  return new Map(rows.map((row) => [row.id, row]))
}

async function versions(table: TableName): Promise<ReadonlyMap<number, string>> {
  const { rows } = await database.admin.query<{ id: number; version: string }>(
    `select id, xmin::text || ctid as version from ${table}`,
  )
  return new Map(rows.map(({ id, version }) => [id, version]))
}

async function lookAround(table: TableName) {
  const seen = await Promise.all(
    watchers.map(async ({ claims, filter }) => ({
      all: await visibleRows(claims, table),
      fitting: await visibleRows(claims, table, filter?.sql),
    })),
  )
  return { seen, versions: await versions(table) }
}
type Look = Awaited<ReturnType<typeof lookAround>>

/** Expected messages of one statement, from the selects before and after it. */
function expected(table: TableName, index: number, before: Look, after: Look): Heard[] {
  const [was, is] = [before.seen[index], after.seen[index]]
  if (!was || !is) throw new Error('a watcher is missing')
  const events: Heard[] = []
  for (const id of new Set([...before.versions.keys(), ...after.versions.keys()])) {
    if (before.versions.get(id) === after.versions.get(id)) continue
    const [old, row] = [was.all.get(id), is.fitting.get(id)]
    if (!after.versions.has(id)) {
      // The policies read the level, so it is recorded of a deleted row under every replica identity.
      if (was.fitting.has(id)) events.push({ table, eventType: 'DELETE', new: {}, old: { id } })
    } else if (row && !before.versions.has(id)) events.push({ table, eventType: 'INSERT', new: row, old: {} })
    else if (row) {
      const matching = table === 'cards' ? (old ?? { id }) : { id }
      events.push({ table, eventType: 'UPDATE', new: row, old: matching })
    }
  }
  return events
}
/** Everything received before a marker that is sent now. */
async function heardUntilNow(): Promise<Heard[][]> {
  const mark = randomUUID()
  await database.admin.query('insert into marks values ($1)', [mark])
  return Promise.all(
    watchers.map(async ({ heard }) => {
      const events: Heard[] = []
      for (let event = await heard.next(); event.new['id'] !== mark; event = await heard.next())
        events.push({ table: event.table, eventType: event.eventType, new: event.new, old: event.old })
      return events
    }),
  )
}

const sorted = (events: readonly Heard[]) =>
  events.toSorted((a, b) => Number(a.new['id'] ?? a.old['id']) - Number(b.new['id'] ?? b.old['id']))

/** One statement, by a person or by the service. */
interface Act {
  readonly table: TableName
  readonly who: number
  readonly kind: 'insert' | 'update' | 'delete' | 'give away' | 'share'
  readonly ids: readonly number[]
  readonly level: number
  readonly isPublic: boolean
}

const act: fc.Arbitrary<Act> = fc.record({
  table: fc.constantFrom(...TABLES),
  who: fc.nat({ max: 5 }),
  kind: fc.constantFrom('insert', 'insert', 'update', 'update', 'delete', 'give away', 'share'),
  ids: fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 3 }),
  level: fc.integer({ min: 1, max: 12 }),
  isPublic: fc.boolean(),
})

async function perform({ table, who, kind, ids, level, isPublic }: Act): Promise<void> {
  const writer: Claims = people[who] ?? { role: 'service_role' }
  const owner = (people[who] ?? people[0])?.sub
  const run = (claims: Claims, text: string, values: readonly unknown[]) =>
    database.database.asUser(claims, (scope) => scope.query(text, values))
  if (kind === 'insert')
    await run(
      writer,
      `insert into ${table} (id, owner, title, level, is_public) select i, $2, 'card ' || i, $3, $4 from unnest($1::int[]) i
       where not exists (select from ${table} t where t.id = i)`,
      [ids, owner, level, isPublic],
    ).catch((error: unknown) => {
      // The key may belong to a row that the writer does not see.
      expect(error).toMatchObject({ code: '23505' })
    })
  else if (kind === 'update')
    await run(writer, `update ${table} set level = $2, is_public = $3 where id = any ($1)`, [ids, level, isPublic])
  else if (kind === 'delete') await run(writer, `delete from ${table} where id = any ($1)`, [ids])
  else if (kind === 'give away')
    await run({ role: 'service_role' }, `update ${table} set owner = $2 where id = any ($1)`, [ids, owner])
  else await database.admin.query('insert into shares select i, $2 from unnest($1::int[]) i', [ids, owner])
}

test('each subscriber receives exactly the rows that its own select shows, over random writes of several people', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 12 }), async (acts) => {
      for (const one of acts) {
        const before = await lookAround(one.table)
        await perform(one)
        const heard = await heardUntilNow()
        const after = await lookAround(one.table)
        for (const [index, { name }] of watchers.entries())
          expect(sorted(heard[index] ?? []), `${name} after ${JSON.stringify(one)}`).toEqual(
            sorted(expected(one.table, index, before, after)),
          )
      }
    }),
    { numRuns: 25 },
  )
})
