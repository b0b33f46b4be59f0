/**
 * Checks permissions against the catalogue instead of a list: every table is tried as its owner, as a second user and
 * anonymously. A later table without a policy fails here, as does any dropped or opened policy.
 */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf } from '#server/base/errors.ts'
import type { Claims } from '#server/database/scope.ts'
import { searchPassages } from '#server/search/search.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { addReadDocument } from './library.ts'

type Person = Claims & { sub: string }
interface Table {
  schema: string
  name: string
  key: string[]
  insertable: string[]
  updatable: string[]
  can_select: boolean
  can_delete: boolean
  is_guarded: boolean
}
interface Policy {
  schemaname: string
  tablename: string
  policyname: string
  roles: string
  cmd: string
  qual: string | null
  with_check: string | null
}

/** Tables with rows that every signed-in person may read, and the condition for these rows. */
const SHARED = new Map([
  ['public.models', 'owner is null'],
  ['public.quotas', 'true'],
])
/** Tables that no person may read or change, unless an operator writes a policy. */
const CLOSED = new Set(['storage.buckets'])
/** Visibility depends on the requested topic, so channels are tried separately. */
const CHANNELS = 'realtime.messages'

let db: TestDatabase
let owner: Person
let stranger: Person
let conversationId: string

beforeAll(async () => {
  db = await createTestDatabase()
  owner = await db.createPerson()
  stranger = await db.createPerson()
  await seed()
})
afterAll(() => db.drop())

/** Inserts at least one row of the owner into every table that people's roles can reach. */
async function seed(): Promise<void> {
  const { documentId } = await addReadDocument(db.database, owner, 'lamp.txt', [
    'The reading lamp stands in the alcove.',
  ])
  await db.admin.query(`insert into passage_vectors select owner, 'model', document_id, passage, '1', '' from passages`)
  await db.admin.query(
    `insert into embedded_documents select owner, 'model', document_id, passages from document_index`,
  )
  await db.admin.query(
    `insert into embeddings_consents (owner, address, model) values ($1, 'https://models.test/v1', 'meaning')`,
    [owner.sub],
  )
  await db.admin.query(`insert into embeddings_failures (owner, model, message) values ($1, 'meaning', 'Away.')`, [
    owner.sub,
  ])
  conversationId = randomUUID()
  const [questionId, answerId] = [randomUUID(), randomUUID()]
  await db.admin.query(`insert into conversations (id, uid, model_name) values ($1, $2, 'alcove-reader')`, [
    conversationId,
    owner.sub,
  ])
  await db.admin.query(
    `insert into messages (id, conversation_id, content, sender_role) values ($1, $3, 'Where is the lamp?', 1), ($2, $3, 'In the alcove.', 2)`,
    [questionId, answerId, conversationId],
  )
  await db.admin.query(`insert into reply_parts select id, 1, 1, owner, '{}' from replies`)
  await db.admin.query('insert into user_settings (owner) values ($1)', [owner.sub])
  await db.admin.query('insert into usage (owner) values ($1)', [owner.sub])
  await db.admin.query('insert into message_feedback (message_id, owner, rating) values ($1, $2, 1)', [
    answerId,
    owner.sub,
  ])
  await db.admin.query(
    `insert into message_versions (message_id, version, content, created_at) values ($1, 1, 'On the desk.', now())`,
    [answerId],
  )
  const serverId = randomUUID()
  await db.admin.query(
    `insert into tool_servers (id, owner, name, url) values ($1, $2, 'home', 'https://tools.test/mcp')`,
    [serverId, owner.sub],
  )
  await db.admin.query('insert into tool_consents (conversation_id, server_id, tool, owner) values ($1, $2, $3, $4)', [
    conversationId,
    serverId,
    'add',
    owner.sub,
  ])
  await db.admin.query(
    `insert into tool_requests (reply_id, conversation_id, server_id, owner, tool, arguments, expires_at)
     select id, $1, $2, $3, 'add', '{}', now() + interval '1 hour' from replies`,
    [conversationId, serverId, owner.sub],
  )
  const providerId = randomUUID()
  await db.admin.query(
    `insert into own_providers (id, owner, kind, name, base_url) values ($1, $2, 'compatible', 'Home', 'https://models.test/v1')`,
    [providerId, owner.sub],
  )
  await db.admin.query(
    `insert into models (name, version, model_identifier, provider, family, context_window, owner, own_provider)
     values ('own', '1', 'endpoint:own', 'Home', 'compatible', 1000, $1, $2)`,
    [owner.sub, providerId],
  )
  await db.admin.query(
    `insert into conversation_summaries (conversation_id, through_position, messages, content, model) values ($1, 1, 1, 'lamps', 'm')`,
    [conversationId],
  )
  await db.admin.query(`insert into users (username, password) values ('legacy', 'x')`)
  await db.admin.query(`insert into chat_history (title, user_id) select 'legacy', id from users`)
  await db.admin.query(`insert into realtime.messages (topic, extension) values ('elsewhere', 'broadcast')`)
  await db.admin.query('update documents set path = path where id = $1', [documentId])
  await db.admin.query(
    `insert into storage.objects (bucket_id, name, owner, blob_id) values ('documents', $1::uuid || '/lamp.txt', $1, 'lamp')`,
    [owner.sub],
  )
}

async function listTables(): Promise<Table[]> {
  const { rows } = await db.admin.query<Table>(`
    with columns as (
      select attrelid, array_agg(attname::text) filter (where has_column_privilege('authenticated', attrelid, attnum, 'insert') and attgenerated = '') as insertable,
        array_agg(attname::text) filter (where has_column_privilege('authenticated', attrelid, attnum, 'update')) as updatable
      from pg_attribute where attnum > 0 and not attisdropped group by attrelid
    )
    select n.nspname as schema, c.relname as name, coalesce(k.key, '{}') as key,
      coalesce(columns.insertable, '{}') as insertable, coalesce(columns.updatable, '{}') as updatable,
      has_any_column_privilege('authenticated', c.oid, 'select') as can_select,
      has_table_privilege('authenticated', c.oid, 'delete') as can_delete,
      c.relrowsecurity and c.relforcerowsecurity as is_guarded
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join columns on columns.attrelid = c.oid
    left join lateral (
      select array_agg(a.attname::text) as key from pg_index i
      join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey) where i.indrelid = c.oid and i.indisprimary
    ) k on true
    where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_'
    order by 1, 2`)
  return rows
}

/** Runs and rolls back one statement: returns the affected rows or the SQLSTATE of the rejection. */
async function attempt(
  claims: Claims,
  text: string,
  values: readonly unknown[] = [],
  topic?: string,
): Promise<number | string> {
  let touched = 0
  const undone = new Error('undone')
  try {
    await db.database.asUser(
      claims,
      async (scope) => {
        touched = (await scope.query(text, values)).rowCount ?? 0
        throw undone
      },
      topic === undefined ? {} : { settings: { 'realtime.topic': topic } },
    )
  } catch (error) {
    if (error !== undone) return codeOf(error) ?? String(error)
  }
  return touched
}

const REFUSED = '42501'
const quoted = ({ schema, name }: Table) => `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`

/** Inserts a copy of the owner's row, with a new key if the key is a plain id. */
async function attemptInsert(claims: Claims, table: Table): Promise<number | string> {
  const { rows } = await db.admin.query<{ row: Record<string, unknown> }>(
    `select to_jsonb(t) as row from ${quoted(table)} t limit 1`,
  )
  const [first] = rows
  if (!first) return 'no row to copy'
  const row = table.key.join() === 'id' ? { ...first.row, id: randomUUID() } : first.row
  const columns = table.insertable.map((column) => pg.escapeIdentifier(column)).join(', ')
  return attempt(
    claims,
    `insert into ${quoted(table)} (${columns}) select ${columns} from jsonb_populate_record(null::${quoted(table)}, $1)`,
    [JSON.stringify(row)],
  )
}

/** Returns forbidden operations that succeed, and permitted ones that fail, on all tables or on one. */
async function findProblems(only?: string): Promise<string[]> {
  const problems: string[] = []
  const anyone: [string, Claims][] = [['a second user', stranger], ['nobody', { role: 'anon' }]] // prettier-ignore
  for (const table of await listTables()) {
    const label = `${table.schema}.${table.name}`
    if (only !== undefined && only !== label) continue
    if (!table.is_guarded) problems.push(`${label} has no forced row-level security`)
    for (const [who, claims] of anyone) {
      const shared = SHARED.get(label)
      const reads = (rows: string) => attempt(claims, `select from ${quoted(table)} where ${rows}`)
      const seen = await reads(`not (${shared ?? 'false'})`)
      if (typeof seen === 'number' && seen > 0) problems.push(`${who} reads ${label}`)
      if (shared !== undefined && claims.role === 'authenticated' && (await reads(shared)) === 0)
        problems.push(`${who} does not read what is shared of ${label}`)
      // Reads no column, so that no SELECT policy hides a missing UPDATE policy.
      const [column] = table.updatable
      const changed =
        column && (await attempt(claims, `update ${quoted(table)} set ${pg.escapeIdentifier(column)} = default`))
      if (column && changed !== 0 && changed !== REFUSED) problems.push(`${who} changes ${label} (${changed})`)
      const deleted = await attempt(claims, `delete from ${quoted(table)}`)
      if (typeof deleted === 'number' && deleted > 0) problems.push(`${who} deletes from ${label}`)
      if (table.insertable.length > 0) {
        const inserted = await attemptInsert(claims, table)
        if (inserted !== REFUSED) problems.push(`${who} inserts the owner's row into ${label} (${inserted})`)
      }
    }
    if (label === CHANNELS) continue
    if (CLOSED.has(label)) {
      if ((await attempt(owner, `select from ${quoted(table)}`)) !== 0) problems.push(`a person reads ${label}`)
      continue
    }
    const read = await attempt(owner, `select from ${quoted(table)} where not (${SHARED.get(label) ?? 'false'})`)
    if (table.can_select && SHARED.get(label) !== 'true' && !(typeof read === 'number' && read > 0))
      problems.push(`the owner does not read ${label}`)
    for (const column of table.updatable.slice(0, 1)) {
      const changed = await attempt(
        owner,
        `update ${quoted(table)} set ${pg.escapeIdentifier(column)} = ${pg.escapeIdentifier(column)}`,
      )
      if (!(typeof changed === 'number' && changed > 0))
        problems.push(`the owner does not change ${label} (${changed})`)
    }
    if (table.can_delete) {
      const deleted = await attempt(owner, `delete from ${quoted(table)}`)
      if (!(typeof deleted === 'number' && deleted > 0))
        problems.push(`the owner does not delete from ${label} (${deleted})`)
    }
    // A unique key rejects a second row only after the policy accepts it.
    if (table.insertable.length > 0 && ![1, '23505'].includes(await attemptInsert(owner, table)))
      problems.push(`the owner does not insert into ${label}`)
  }
  return only === undefined || only === CHANNELS ? [...problems, ...(await findChannelProblems())] : problems
}

/** A changed policy usually shows on its own table; all tables are tried where it does not. */
async function expectToShow({ schemaname, tablename, policyname }: Policy): Promise<void> {
  const onItsTable = await findProblems(`${schemaname}.${tablename}`)
  expect(onItsTable.length > 0 ? onItsTable : await findProblems(), policyname).not.toEqual([])
}

/** On the private channel of a conversation its owner may listen, and no person may send. */
async function findChannelProblems(): Promise<string[]> {
  const problems: string[] = []
  const topic = `conversation:${conversationId}`
  await db.admin.query(`insert into realtime.messages (topic, extension) values ($1, 'broadcast')`, [topic])
  const hears = (claims: Claims) => attempt(claims, 'select from realtime.messages where topic = $1', [topic], topic)
  const sends = (claims: Claims) =>
    attempt(claims, `insert into realtime.messages (topic, extension) values ($1, 'broadcast')`, [topic], topic)
  if ((await hears(owner)) === 0) problems.push('the owner does not hear the own conversation')
  if ((await hears(stranger)) !== 0) problems.push(`a second user hears the owner's conversation`)
  if ((await hears({ role: 'anon' })) !== 0) problems.push(`nobody hears the owner's conversation`)
  for (const claims of [owner, stranger, { role: 'anon' } as const])
    if ((await sends(claims)) !== REFUSED) problems.push('somebody sends to a conversation')
  await db.admin.query('delete from realtime.messages where topic = $1', [topic])
  return [...problems, ...(await findDebugChannelProblems())]
}

/** On the channel of the debug panel only its owner may listen and send. */
async function findDebugChannelProblems(): Promise<string[]> {
  const problems: string[] = []
  const topic = `debug:${owner.sub}`
  await db.admin.query(`insert into realtime.messages (topic, extension) values ($1, 'broadcast')`, [topic])
  const hears = (claims: Claims) => attempt(claims, 'select from realtime.messages where topic = $1', [topic], topic)
  const sends = (claims: Claims) =>
    attempt(claims, `insert into realtime.messages (topic, extension) values ($1, 'broadcast')`, [topic], topic)
  if ((await hears(owner)) !== 1) problems.push('the owner does not hear the own debug channel')
  if ((await sends(owner)) !== 1) problems.push('the owner does not send to the own debug channel')
  for (const claims of [stranger, { role: 'anon' } as const]) {
    if ((await hears(claims)) !== 0) problems.push(`somebody else hears the owner's debug channel`)
    if ((await sends(claims)) !== REFUSED) problems.push(`somebody else sends to the owner's debug channel`)
  }
  await db.admin.query('delete from realtime.messages where topic = $1', [topic])
  return problems
}

const listPolicies = async (): Promise<Policy[]> =>
  (
    await db.admin.query<Policy>(
      `select schemaname, tablename, policyname, array_to_string(roles, ', ') as roles, cmd, qual, with_check from pg_policies order by 1, 2, 3`,
    )
  ).rows

const policyTarget = ({ schemaname, tablename, policyname }: Policy) =>
  `${pg.escapeIdentifier(policyname)} on ${pg.escapeIdentifier(schemaname)}.${pg.escapeIdentifier(tablename)}`

async function createPolicy(policy: Policy, qual = policy.qual, check = policy.with_check): Promise<void> {
  await db.admin.query(
    `create policy ${policyTarget(policy)} for ${policy.cmd} to ${policy.roles}
     ${qual === null ? '' : `using (${qual})`} ${check === null ? '' : `with check (${check})`}`,
  )
}

test('lets everyone do exactly what they may, on every table and channel', async () => {
  expect(await findProblems()).toEqual([])
})

test('notices when any one policy is dropped', async () => {
  const policies = await listPolicies()
  expect(policies.length).toBeGreaterThan(15)
  for (const policy of policies) {
    await db.admin.query(`drop policy ${policyTarget(policy)}`)
    await expectToShow(policy)
    await createPolicy(policy)
  }
  expect(await findProblems()).toEqual([])
})

test('notices when any one policy is opened to everyone', async () => {
  for (const policy of await listPolicies()) {
    if (policy.qual === 'true') continue
    await db.admin.query(`drop policy ${policyTarget(policy)}`)
    await createPolicy(policy, policy.qual && 'true', policy.with_check && 'true')
    await expectToShow(policy)
    await db.admin.query(`drop policy ${policyTarget(policy)}`)
    await createPolicy(policy)
  }
})

test('notices a table that is added without a policy', async () => {
  await db.admin.query(
    'create table forgotten (id integer primary key); grant select on forgotten to authenticated; insert into forgotten values (1)',
  )
  expect(await findProblems()).toEqual(
    expect.arrayContaining([
      'public.forgotten has no forced row-level security',
      'a second user reads public.forgotten',
    ]),
  )
  await db.admin.query('drop table forgotten')
})

describe('functions', () => {
  test('none that runs with its owner’s rights can be called by people', async () => {
    const { rows } = await db.admin.query<{ name: string }>(`
      select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where p.prosecdef and n.nspname !~ '^pg_'
        and (has_function_privilege('anon', p.oid, 'execute') or has_function_privilege('authenticated', p.oid, 'execute'))`)
    expect(rows).toEqual([])
  })

  test('every one with its owner’s rights pins the search path', async () => {
    const { rows } = await db.admin.query<{ name: string }>(`
      select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where p.prosecdef and n.nspname !~ '^pg_' and not coalesce(p.proconfig::text like '%search_path=%', false)`)
    expect(rows).toEqual([])
  })

  test('nobody can call any of the product’s', async () => {
    const { rows } = await db.admin.query<{ name: string }>(`
      select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'public' and has_function_privilege('anon', p.oid, 'execute')
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`)
    expect(rows).toEqual([])
  })

  test('the search finds the owner’s passages for the owner alone', async () => {
    const find = (person: Person) => db.database.asUser(person, (scope) => searchPassages(scope, 'reading lamp'))
    expect(await find(owner)).toHaveLength(1)
    expect(await find(stranger)).toEqual([])
  })
})
