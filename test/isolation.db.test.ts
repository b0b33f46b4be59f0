/**
 * Checks permissions against the catalogue instead of a list: every table is tried in every role, with rows of every kind. A
 * later table without a policy fails here, as does any dropped or opened policy.
 */
import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf } from '#server/base/errors.ts'
import type { Claims } from '#server/database/scope.ts'
import { searchPassages } from '#server/search/search.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { addReadDocument } from './library.ts'
import { attemptAs, createSpace, invite, join, type Person, remove } from './spaces.ts'

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

/**
 * In the space: `invited` has not accepted, `former` was removed. `stranger` has an account, `anonymous` has none. The owner has a
 * library and a conversation that are personal as well.
 */
const ROLES = ['owner', 'editor', 'reader', 'invited', 'former', 'stranger', 'anonymous'] as const
type Role = (typeof ROLES)[number]
const MEMBERS: readonly Role[] = ['owner', 'editor', 'reader']
const EDITORS: readonly Role[] = ['owner', 'editor']
const OWNERS: readonly Role[] = ['owner']
const SIGNED_IN = ROLES.filter((role) => role !== 'anonymous')

/** Which rows a role may read or write: the roles by the kind of a row. A kind that is missing is for none. */
type Kinds = Readonly<Record<string, readonly Role[]>>
interface Rights {
  readonly read?: Kinds
  readonly update?: Kinds
  readonly delete?: Kinds
  /** A copy of a row of this kind, with the columns that people may give. */
  readonly insert?: Kinds
}

/** Rows of one person, of whom no other has any. */
const ofThemselves: Kinds = Object.fromEntries(SIGNED_IN.map((role) => [role, [role]]))
/** In the space, one conversation is the reader's alone, and one the former member's. */
const readWithConversation: Kinds = {
  personal: OWNERS,
  shared: MEMBERS,
  'hidden of reader': ['reader'],
  'shared of former': MEMBERS,
}
const ofAuthors: Kinds = { personal: OWNERS, shared: ['editor'], 'hidden of reader': ['reader'] }
/** How far a person has read stays the person's, also of what it may no longer read. */
const marked: Kinds = { ...ofAuthors, 'shared of former': ['former'], 'hidden of former': ['former'] }
const linked: Kinds = { personal: OWNERS, shared: EDITORS, 'shared of former': EDITORS }
const readInLibrary: Rights = { read: { 'own document': OWNERS, 'document of space': MEMBERS } }
const editInLibrary: Kinds = { 'own document': OWNERS, 'document of space': EDITORS }
const readOfLibrary: Rights = { read: { owner: OWNERS, space: MEMBERS } }
const everyone: Kinds = { any: SIGNED_IN }

const RIGHTS: Readonly<Record<string, Rights>> = {
  'public.conversation_reads': { read: marked, update: marked, insert: ofAuthors },
  'public.daily_usage': { read: ofThemselves },
  'public.conversation_summaries': { read: readWithConversation },
  'public.conversations': {
    read: readWithConversation,
    update: ofAuthors,
    delete: { ...ofAuthors, shared: EDITORS, 'shared of former': OWNERS },
    insert: ofAuthors,
  },
  'public.document_index': readInLibrary,
  'public.document_pages': readInLibrary,
  'public.documents': { ...readInLibrary, update: editInLibrary, delete: editInLibrary },
  'public.embedded_documents': readInLibrary,
  'public.embeddings_consents': { read: ofThemselves, delete: ofThemselves, insert: ofThemselves },
  'public.embeddings_failures': { read: ofThemselves },
  'public.latest_answers': { read: readWithConversation },
  'public.message_feedback': { read: ofAuthors, update: ofAuthors, delete: ofAuthors, insert: ofAuthors },
  'public.message_texts': { read: readWithConversation },
  'public.message_versions': { read: readWithConversation },
  'public.messages': { read: readWithConversation, insert: ofAuthors },
  'public.models': { read: { ...ofThemselves, ...everyone, space: MEMBERS } },
  'public.operators': { read: ofThemselves },
  'public.own_providers': { read: ofThemselves, update: ofThemselves, delete: ofThemselves, insert: ofThemselves },
  'public.passage_vectors': readInLibrary,
  'public.passages': readInLibrary,
  'public.quotas': { read: everyone },
  'public.replies': { read: readWithConversation },
  'public.reply_parts': { read: readWithConversation },
  'public.search_buckets': readOfLibrary,
  'public.search_segments': readOfLibrary,
  'public.share_links': { read: linked, delete: linked },
  'public.space_events': { read: { space: OWNERS } },
  'public.space_invitations': { read: { space: ['owner', 'invited'] }, delete: { space: OWNERS } },
  'public.space_members': {
    read: { owner: MEMBERS, editor: MEMBERS, reader: MEMBERS },
    update: { owner: OWNERS, editor: OWNERS, reader: OWNERS },
    delete: { editor: EDITORS, reader: ['owner', 'reader'] },
  },
  'public.space_providers': {
    read: { space: OWNERS, 'key of editor': EDITORS },
    delete: { space: OWNERS, 'key of editor': EDITORS },
    insert: { space: OWNERS },
  },
  'public.spaces': {
    read: { space: MEMBERS },
    update: { space: EDITORS },
    delete: { space: OWNERS },
    insert: { space: OWNERS },
  },
  'public.tool_consents': { read: ofAuthors, delete: ofAuthors, insert: ofAuthors },
  'public.tool_requests': { read: ofAuthors, update: ofAuthors },
  'public.tool_servers': { read: ofThemselves, delete: ofThemselves, insert: ofThemselves },
  'public.usage': { read: { ...ofThemselves, space: OWNERS } },
  'public.usage_changes': { read: { ...ofThemselves, space: OWNERS } },
  'public.usage_events': { read: ofThemselves },
  'public.user_settings': { read: ofThemselves, update: ofThemselves, insert: ofThemselves },
  'public.vector_usage': readInLibrary,
  'storage.objects': { read: ofThemselves, update: ofThemselves, delete: ofThemselves, insert: ofThemselves },
}

/** Updates that read no column, so that no SELECT policy hides a missing UPDATE policy, and break no constraint. */
const CHANGES: Readonly<Record<string, string>> = {
  'public.documents': `filename = 'lamp.txt'`,
  'public.message_feedback': 'rating = 1',
  'public.conversation_reads': 'position = 1',
  'public.space_members': `role = 'owner'`,
  'public.tool_requests': `state = 'denied'`,
  'public.own_providers': 'embeddings_model = null',
  'public.spaces': `color = 'green'`,
  'storage.objects': 'metadata = null',
}
/** Deletes that would leave a space without an owner are refused before any policy could be seen to fail. */
const DELETES: Readonly<Record<string, string>> = { 'public.space_members': ` where role <> 'owner'` }

/** Visibility depends on the requested topic, so channels are tried separately. */
const CHANNELS = 'realtime.messages'

let db: TestDatabase
let people: Record<Exclude<Role, 'anonymous'>, Person>
let space: string
const TOKEN_HASH = createHash('sha256').update('token').digest()
const kindOf = new Map<string, string>()
const conversations = new Map<string, string>()
const answers = new Map<string, string>()
const claimsOf = (role: Role): Claims => (role === 'anonymous' ? { role: 'anon' } : people[role])

beforeAll(async () => {
  db = await createTestDatabase()
  const [owner, editor, reader, invited, former, stranger] = await Promise.all([
    db.createPerson(),
    db.createPerson(),
    db.createPerson(),
    db.createPerson(),
    db.createPerson(),
    db.createPerson(),
  ])
  people = { owner, editor, reader, invited, former, stranger }
  await seed()
}, 60_000)
afterAll(() => db.drop())

/** Inserts rows of every kind into every table that people's roles can reach. */
async function seed(): Promise<void> {
  space = await createSpace(db, people.owner)
  for (const role of ['editor', 'reader'] as const) await join(db, people.owner, space, people[role], role)
  await join(db, people.owner, space, people.former, 'editor')
  await invite(db, people.owner, { space, email: String(people.invited.email), role: 'editor' })
  await seedLibraries()
  for (const role of SIGNED_IN) await seedPerson(role)
  await seedConversation('personal', { author: 'owner', isInSpace: false, isShared: false })
  await seedConversation('shared', { author: 'editor', isInSpace: true, isShared: true })
  await seedConversation('hidden of reader', { author: 'reader', isInSpace: true, isShared: false })
  await seedConversation('shared of former', { author: 'former', isInSpace: true, isShared: true })
  await seedConversation('hidden of former', { author: 'former', isInSpace: true, isShared: false })
  await db.admin.query(
    `update messages set metadata = jsonb_build_object('sources', $2::jsonb) where conversation_id = $1 and sender_role = 2`,
    [conversations.get('shared'), JSON.stringify([{ documentId: idOf('own document') }])],
  )
  await remove(db, people.owner, space, people.former)
  await db.admin.query(
    `insert into share_links (conversation_id, created_by, token_hash, expires_at)
     select id, $1, sha256(convert_to(id::text, 'utf8')), now() + interval '1 day' from conversations where id = $2`,
    [people.owner.sub, conversations.get('shared of former')],
  )
  await db.admin.query('update quotas set pages_per_person = 10, pages_total = 10')
  await db.admin.query('insert into usage_events (owner, day, pages) values ($1, utc_today(), 3)', [people.owner.sub])
  const { rows: keys } = await db.admin.query<{ id: string }>(
    `insert into space_providers (space_id, created_by, kind, name, base_url)
     values ($1, $2, 'compatible', 'Harbour', 'https://models.test/v1') returning id`,
    [space, people.owner.sub],
  )
  await db.admin.query(
    `insert into models (name, version, model_identifier, provider, family, context_window, space_id, space_provider)
     values ('ofSpace', '1', 'endpoint:' || $2::uuid, 'Harbour', 'compatible', 1000, $1, $2)`,
    [space, keys[0]?.id],
  )
  // An owner who has become an editor.
  const { rows: ofEditor } = await db.admin.query<{ id: string }>(
    `insert into space_providers (space_id, created_by, kind, name, base_url)
     values ($1, $2, 'compatible', 'Quay', 'https://models.test/v1') returning id`,
    [space, people.editor.sub],
  )
  kindOf.set(ofEditor[0]?.id ?? '', 'key of editor')
  await db.admin.query(`insert into users (username, password) values ('legacy', 'x')`)
  await db.admin.query(`insert into chat_history (title, user_id) select 'legacy', id from users`)
  await db.admin.query(`insert into realtime.messages (topic, extension) values ('elsewhere', 'broadcast')`)
  kindOf.set(space, 'space')
  for (const role of SIGNED_IN) kindOf.set(people[role].sub, role)
}

const idOf = (kind: string) => [...kindOf].find(([, known]) => known === kind)?.[0]

async function seedLibraries(): Promise<void> {
  const { documentId: own } = await addReadDocument(db.database, people.owner, 'lamp.txt', [
    'The reading lamp stands in the alcove.',
  ])
  const { documentId: ofSpace } = await addReadDocument(
    db.database,
    people.former,
    'lamp.txt',
    ['A reading lamp is lit.'],
    space,
  )
  kindOf.set(own, 'own document').set(ofSpace, 'document of space')
  await db.admin.query(`insert into passage_vectors select owner, 'model', document_id, passage, '1', '' from passages`)
  await db.admin.query(
    `insert into embedded_documents select owner, 'model', document_id, passages from document_index`,
  )
  await db.admin.query(`update documents set path = path`)
  await db.admin.query('insert into usage (owner) values ($1) on conflict do nothing', [space])
}

async function seedPerson(role: Exclude<Role, 'anonymous'>): Promise<void> {
  const { sub } = people[role]
  const [server, provider] = [randomUUID(), randomUUID()]
  for (const [text, ...values] of [
    [`insert into embeddings_consents (owner, address, model) values ($1, 'https://models.test/v1', 'meaning')`],
    [`insert into embeddings_failures (owner, model, message) values ($1, 'meaning', 'Away.')`],
    ['insert into user_settings (owner) values ($1)'],
    ['insert into usage (owner) values ($1) on conflict do nothing'],
    ['insert into operators (user_id) values ($1)'],
    [`insert into daily_usage (owner, day) values ($1, '2026-01-01')`],
    [`insert into tool_servers (id, owner, name, url) values ($2, $1, 'home', 'https://tools.test/mcp')`, server],
    [
      `insert into own_providers (id, owner, kind, name, base_url) values ($2, $1, 'compatible', 'Home', 'https://models.test/v1')`,
      provider,
    ],
    [
      `insert into models (name, version, model_identifier, provider, family, context_window, owner, own_provider)
       values ('own', '1', 'endpoint:' || $1::uuid, 'Home', 'compatible', 1000, $1, $2)`,
      provider,
    ],
    [
      `insert into storage.objects (bucket_id, name, owner, blob_id) values ('documents', $1::uuid || '/lamp.txt', $1, gen_random_uuid())`,
    ],
  ] as const)
    await db.admin.query(text, [sub, ...values])
}

async function seedConversation(
  kind: string,
  { author, isInSpace, isShared }: { author: Exclude<Role, 'anonymous'>; isInSpace: boolean; isShared: boolean },
): Promise<void> {
  const { sub } = people[author]
  const [id, question, answer] = [randomUUID(), randomUUID(), randomUUID()]
  conversations.set(kind, id)
  for (const [text, ...values] of [
    [
      `insert into conversations (id, uid, model_name, space_id, is_shared) values ($1, $2, 'alcove-reader', $3, $4)`,
      sub,
      isInSpace ? space : null,
      isShared,
    ],
    [
      `insert into messages (id, conversation_id, content, sender_role, author) values ($2, $1, 'Where?', 1, $4), ($3, $1, 'There.', 2, null)`,
      question,
      answer,
      sub,
    ],
    [`insert into reply_parts select id, 1, 1, owner, '{}' from replies where conversation_id = $1`],
    [
      `insert into message_feedback (message_id, owner, rating) select id, $2, 1 from messages where conversation_id = $1`,
      sub,
    ],
    ['insert into conversation_reads (user_id, conversation_id, position) values ($2, $1, 1)', sub],
    [
      `insert into message_versions (message_id, version, content, created_at) select id, 1, 'Here.', now() from messages where conversation_id = $1`,
    ],
    [
      `insert into tool_consents (conversation_id, server_id, tool, owner) select $1, id, 'add', $2 from tool_servers where owner = $2`,
      sub,
    ],
    [
      `insert into tool_requests (reply_id, conversation_id, server_id, owner, tool, arguments, expires_at)
       select r.id, $1, s.id, $2, 'add', '{}', now() + interval '1 hour' from replies r, tool_servers s
       where r.conversation_id = $1 and s.owner = $2`,
      sub,
    ],
    [
      `insert into conversation_summaries (conversation_id, through_position, messages, content, model) values ($1, 1, 1, 'lamps', 'm')`,
    ],
  ] as const)
    await db.admin.query(text, [id, ...values])
  if (author !== 'reader')
    await db.admin.query(
      `insert into share_links (conversation_id, created_by, token_hash, expires_at) values ($1, $2, $3, now() + interval '1 day')`,
      [id, sub, kind === 'shared' ? TOKEN_HASH : createHash('sha256').update(id).digest()],
    )
  const { rows } = await db.admin.query<{ id: string }>('select id from replies where conversation_id = $1', [id])
  answers.set(kind, answer)
  for (const known of [id, question, answer, ...rows.map((row) => row.id)]) kindOf.set(known, kind)
}

/** Columns by which the kind of a row is told, the most telling first. */
const TELLING = [
  'conversation_id',
  'message_id',
  'reply_id',
  'document_id',
  'id',
  'user_id',
  'space_id',
  'owner',
  'uid',
]

function tellKind(label: string, row: Record<string, unknown>): string {
  for (const column of TELLING) {
    const kind = kindOf.get(String(row[column]))
    if (kind !== undefined) return kind
  }
  return label === 'public.models' || label === 'public.quotas' ? 'any' : 'other'
}

interface KnownRow {
  readonly kind: string
  readonly key: string
  readonly row: Record<string, unknown>
}
const knownRows = new Map<string, readonly KnownRow[]>()

async function rowsOf(table: Table): Promise<readonly KnownRow[]> {
  const label = labelOf(table)
  const known = knownRows.get(label)
  if (known) return known
  const { rows } = await db.admin.query<{ row: Record<string, unknown>; key: string }>(
    `select to_jsonb(t) as row, ${keyToSql(table)} as key from ${quoted(table)} t`,
  )
  const found = rows.map(({ row, key }) => ({ row, key, kind: tellKind(label, row) }))
  knownRows.set(label, found)
  return found
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
      select array_agg(a.attname::text order by a.attnum) as key from pg_index i
      join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey) where i.indrelid = c.oid and i.indisprimary
    ) k on true
    where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_'
    order by 1, 2`)
  return rows
}

const REFUSED = '42501'
const labelOf = ({ schema, name }: Table) => `${schema}.${name}`
const quoted = ({ schema, name }: Table) => `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`
const keyToSql = ({ key }: Table) =>
  key.length === 0 ? `''` : key.map((column) => `${pg.escapeIdentifier(column)}::text`).join(` || ' ' || `)

/** The kinds of which a role may do something, of those that have rows. */
const countAllowed = (rows: readonly KnownRow[], kinds: Kinds | undefined, role: Role): number =>
  rows.filter(({ kind }) => kinds?.[kind]?.includes(role)).length

async function readKeys(role: Role, table: Table): Promise<string[] | string> {
  try {
    return await db.database.asUser(claimsOf(role), async (scope) =>
      (await scope.query<{ key: string }>(`select ${keyToSql(table)} as key from ${quoted(table)}`)).rows.map(
        ({ key }) => key,
      ),
    )
  } catch (error) {
    return codeOf(error) ?? String(error)
  }
}

async function findReadProblems(table: Table, role: Role): Promise<string[]> {
  const label = labelOf(table)
  const keys = await readKeys(role, table)
  if (typeof keys === 'string' && keys !== REFUSED) return [`${role} gets ${keys} from ${label}`]
  const seen = new Set(typeof keys === 'string' ? [] : keys)
  return (await rowsOf(table)).flatMap(({ kind, key }) => {
    const may = RIGHTS[label]?.read?.[kind]?.includes(role) === true
    if (may === seen.has(key)) return []
    return [`${role} ${may ? 'does not read' : 'reads'} ${label} (${kind})`]
  })
}

/** For writes without a condition, which no SELECT policy narrows. */
async function findWriteProblems(table: Table, role: Role): Promise<string[]> {
  const label = labelOf(table)
  const rows = await rowsOf(table)
  const problems: string[] = []
  const compare = async (what: 'update' | 'delete', text: string) => {
    const allowed = countAllowed(rows, RIGHTS[label]?.[what], role)
    const found = await attemptAs(db, claimsOf(role), text)
    if (found !== allowed && !(allowed === 0 && found === REFUSED))
      problems.push(`${role} may ${what} ${allowed} of ${label}, but: ${found}`)
  }
  const [column] = table.updatable
  if (column !== undefined)
    await compare(
      'update',
      `update ${quoted(table)} set ${CHANGES[label] ?? `${pg.escapeIdentifier(column)} = default`}`,
    )
  await compare('delete', `delete from ${quoted(table)}${DELETES[label] ?? ''}`)
  return [...problems, ...(table.insertable.length === 0 ? [] : await findInsertProblems(table, role))]
}

/** Inserts copies of one row of each kind, with a new key if the key is a plain id. */
async function findInsertProblems(table: Table, role: Role): Promise<string[]> {
  const label = labelOf(table)
  const problems: string[] = []
  const kinds = Map.groupBy(await rowsOf(table), ({ kind }) => kind)
  if (kinds.size === 0) problems.push(`${label} has no row to copy`)
  for (const [kind, rows] of kinds) {
    const first = rows.find(({ row }) => row.sender_role === 1) ?? rows[0]
    const row = table.key.join() === 'id' ? { ...first?.row, id: randomUUID() } : first?.row
    const columns = table.insertable.map((column) => pg.escapeIdentifier(column)).join(', ')
    const inserted = await attemptAs(
      db,
      claimsOf(role),
      `insert into ${quoted(table)} (${columns}) select ${columns} from jsonb_populate_record(null::${quoted(table)}, $1)`,
      { values: [JSON.stringify(row)] },
    )
    const may = RIGHTS[label]?.insert?.[kind]?.includes(role) === true
    // A unique key rejects a second row only after the policy accepts it.
    if (may ? ![1, '23505'].includes(inserted) : inserted !== REFUSED)
      problems.push(`${role} ${may ? 'does not insert' : 'inserts'} into ${label} (${kind}): ${inserted}`)
  }
  return problems
}

/** Returns forbidden operations that succeed, and permitted ones that fail, on all tables or on one. */
async function findProblems(only?: string): Promise<string[]> {
  const problems: string[] = []
  for (const table of await listTables()) {
    const label = labelOf(table)
    if (only !== undefined && only !== label) continue
    if (!table.is_guarded) problems.push(`${label} has no forced row-level security`)
    if (label === CHANNELS) continue
    for (const role of ROLES)
      problems.push(...(await findReadProblems(table, role)), ...(await findWriteProblems(table, role)))
  }
  return only === undefined || only === CHANNELS ? [...problems, ...(await findChannelProblems())] : problems
}

/** A changed policy usually shows on its own table; the others are tried where it does not. */
async function expectToShow({ schemaname, tablename, policyname }: Policy): Promise<void> {
  const own = `${schemaname}.${tablename}`
  const others = (await listTables()).map(labelOf).filter((label) => label !== own)
  for (const label of [own, ...others]) if ((await findProblems(label)).length > 0) return
  expect.fail(`nothing shows a change of the policy ${policyname}`)
}

interface Topic {
  readonly name: string
  readonly hears: Readonly<Record<'broadcast' | 'presence', readonly Role[]>>
  readonly sends: Readonly<Record<'broadcast' | 'presence', readonly Role[]>>
}

function listTopics(): Topic[] {
  const none = { broadcast: [], presence: [] }
  return [
    { name: `space:${space}`, hears: { broadcast: MEMBERS, presence: MEMBERS }, sends: { ...none, presence: MEMBERS } },
    { name: `space:${space.toUpperCase()}`, hears: none, sends: none },
    { name: `space:${people.owner.sub}`, hears: none, sends: none },
    { name: `debug:${people.owner.sub}`, hears: { ...none, broadcast: OWNERS }, sends: { ...none, broadcast: OWNERS } },
    ...[...conversations].flatMap(([kind, id]) => [
      { name: `conversation:${id}`, hears: { ...none, broadcast: readWithConversation[kind] ?? [] }, sends: none },
      { name: `conversation:${id.toUpperCase()}`, hears: none, sends: none },
    ]),
  ]
}

async function findChannelProblems(): Promise<string[]> {
  const problems: string[] = []
  for (const { name, hears, sends } of listTopics())
    for (const extension of ['broadcast', 'presence'] as const) {
      await db.admin.query('insert into realtime.messages (topic, extension) values ($1, $2)', [name, extension])
      for (const role of ROLES) {
        const options = { values: [name, extension], settings: { 'realtime.topic': name } }
        const heard = await attemptAs(
          db,
          claimsOf(role),
          'select from realtime.messages where topic = $1 and extension = $2',
          options,
        )
        if (heard !== (hears[extension].includes(role) ? 1 : 0))
          problems.push(`${role} hears ${heard} of ${extension} on ${name}`)
        const sent = await attemptAs(
          db,
          claimsOf(role),
          'insert into realtime.messages (topic, extension) values ($1, $2)',
          options,
        )
        if (sent !== (sends[extension].includes(role) ? 1 : REFUSED))
          problems.push(`${role} sends ${extension} to ${name}: ${sent}`)
      }
      await db.admin.query('delete from realtime.messages where topic = $1', [name])
    }
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

test('tries rows of every kind', async () => {
  const missing: string[] = []
  for (const table of await listTables()) {
    const kinds = new Set((await rowsOf(table)).map(({ kind }) => kind))
    for (const kind of Object.keys(RIGHTS[labelOf(table)]?.read ?? {}))
      if (!kinds.has(kind) && !(kind in ofThemselves)) missing.push(`${labelOf(table)}: ${kind}`)
  }
  expect(missing).toEqual([])
})

test('notices when any one policy is dropped', async () => {
  const policies = await listPolicies()
  expect(policies.length).toBeGreaterThan(50)
  for (const policy of policies) {
    await db.admin.query(`drop policy ${policyTarget(policy)}`)
    await expectToShow(policy)
    await createPolicy(policy)
  }
  expect(await findProblems()).toEqual([])
}, 120_000)

test('notices when any one policy is opened to everyone', async () => {
  for (const policy of await listPolicies()) {
    if (policy.qual === 'true') continue
    await db.admin.query(`drop policy ${policyTarget(policy)}`)
    await createPolicy(policy, policy.qual && 'true', policy.with_check && 'true')
    await expectToShow(policy)
    await db.admin.query(`drop policy ${policyTarget(policy)}`)
    await createPolicy(policy)
  }
}, 120_000)

test('notices a table that is added without a policy', async () => {
  await db.admin.query(
    'create table forgotten (id integer primary key); grant select on forgotten to authenticated; insert into forgotten values (1)',
  )
  expect(await findProblems('public.forgotten')).toEqual(
    expect.arrayContaining([
      'public.forgotten has no forced row-level security',
      'stranger reads public.forgotten (other)',
    ]),
  )
  await db.admin.query('drop table forgotten')
})

describe('functions', () => {
  interface Call {
    readonly text: string
    readonly values?: readonly unknown[]
    /** By role; `others` are all signed-in people who are not named. */
    readonly gives: Partial<Record<Role | 'others', unknown>>
  }

  /** Functions that people call and that run with the rights of their owner: why, and what each gives to whom. */
  const CALLED: Readonly<Record<string, { readonly because: string; readonly calls: () => Call[] }>> = {
    'spaces_to(text)': {
      because: 'policies of other tables ask for the spaces of the caller without the policies of space_members',
      calls: () => [
        ...['read', 'ask'].map((right) => ({
          text: `select spaces_to('${right}')`,
          gives: { owner: [space], editor: [space], reader: [space], others: [] },
        })),
        { text: `select spaces_to('edit')`, gives: { owner: [space], editor: [space], others: [] } },
        { text: `select spaces_to('own')`, gives: { owner: [space], others: [] } },
        { text: `select spaces_to('anything')`, gives: { others: [] } },
      ],
    },
    'libraries_to(text)': {
      because: 'it is the same for libraries',
      calls: () => [
        {
          text: `select array_remove(libraries_to('edit'), auth.uid())`,
          gives: { owner: [space], editor: [space], others: [] },
        },
      ],
    },
    'own_limits()': {
      because: 'limits for all people are compared with the use of all, of which it gives a share alone',
      calls: () => [
        {
          text: `select used::integer from own_limits() where name = 'pages'`,
          gives: { owner: 3, others: 0 },
        },
        {
          text: `select used::integer from own_limits() where name = 'all pages'`,
          gives: { others: 30 },
        },
      ],
    },
    'confirmed_email()': {
      because: 'people cannot read auth.users',
      calls: () => [
        {
          text: 'select confirmed_email()',
          gives: Object.fromEntries(SIGNED_IN.map((role) => [role, people[role].email])),
        },
      ],
    },
    'has_members(uuid)': {
      because: 'a space is read by its creator before the first member is added',
      calls: () => [{ text: 'select has_members($1)', values: [space], gives: { owner: true, others: false } }],
    },
    'own_paid_libraries()': {
      because: 'which spaces count with a person depends on all their owners',
      calls: () => [
        { text: 'select array_remove(own_paid_libraries(), auth.uid())', gives: { owner: [space], others: [] } },
      ],
    },
    'has_text_room(uuid)': {
      because: 'members learn whether there is room, and not what the owner has elsewhere',
      calls: () => [{ text: 'select has_text_room($1)', values: [space], gives: { others: true } }],
    },
    'create_link(uuid,integer,boolean)': {
      because: 'people neither choose the token of a link nor its number',
      calls: () => [
        {
          text: 'select expires_at > now() from create_link($1, 1, false)',
          values: [conversations.get('shared')],
          gives: { owner: true, editor: true, reader: REFUSED, others: 'PT404' },
        },
        {
          text: 'select expires_at > now() from create_link($1, 1, false)',
          values: [conversations.get('personal')],
          gives: { owner: true, others: 'PT404' },
        },
        {
          text: 'select expires_at > now() from create_link($1, 1, false)',
          values: [conversations.get('hidden of former')],
          gives: { others: 'PT404' },
        },
      ],
    },
    'delete_space(uuid)': {
      because: 'the receipt counts what its owner may not read',
      calls: () => [
        {
          text: 'select name from delete_space($1)',
          values: [space],
          gives: { owner: 'Lamps', editor: REFUSED, reader: REFUSED, others: 'PT404' },
        },
      ],
    },
    'has_space_keys(uuid)': {
      because: 'members use the keys of a space and read none',
      calls: () => [
        {
          text: 'select has_space_keys($1)',
          values: [space],
          gives: { owner: true, editor: true, reader: true, others: false },
        },
      ],
    },
    'vendors_with_own_key()': {
      because: 'members use the keys of a space and read none',
      calls: () => [{ text: 'select vendors_with_own_key()', gives: { others: [] } }],
    },
    'may_link(uuid)': {
      because: 'share_links is asked about by rights of which the policies of conversations know only a part',
      calls: () => [
        {
          text: 'select may_link($1)',
          values: [conversations.get('shared')],
          gives: { owner: true, editor: true, others: false },
        },
        { text: 'select may_link($1)', values: [conversations.get('personal')], gives: { owner: true, others: false } },
        { text: 'select may_link($1)', values: [conversations.get('hidden of reader')], gives: { others: false } },
        { text: 'select may_link($1)', values: [conversations.get('hidden of former')], gives: { others: false } },
      ],
    },
    'open_link(bytea,bigint,integer)': {
      because: 'a link shows what its holder may not read otherwise',
      calls: () => [
        { text: 'select count(*)::int from open_link($1, 0, 10)', values: [TOKEN_HASH], gives: { others: 1 } },
        {
          text: 'select count(*)::int from open_link($1, 0, 10)',
          values: [createHash('sha256').update('guessed').digest()],
          gives: { others: 0 },
        },
      ],
    },
    'space_people(uuid)': {
      because: 'people cannot read the names of others in auth.users',
      calls: () => [
        {
          text: 'select count(*)::int from space_people($1)',
          values: [space],
          gives: { owner: 3, editor: 3, reader: 3, others: 0 },
        },
      ],
    },
    'received_invitations()': {
      because: 'an invited person reads the name of a space before becoming its member',
      calls: () => [{ text: 'select count(*)::int from received_invitations()', gives: { invited: 1, others: 0 } }],
    },
    'invite_to_space(uuid,text,text)': {
      because: 'owners cannot tell who has an account',
      calls: () => [
        {
          text: `select invite_to_space($1, 'a@example.test', 'reader') is not null`,
          values: [space],
          gives: { owner: true, editor: REFUSED, reader: REFUSED, others: 'PT404' },
        },
      ],
    },
    'answer_invitation(uuid,boolean)': {
      because: 'people cannot insert members',
      calls: () =>
        [true, false].map((isAccepted) => ({
          text: 'select answer_invitation($1, $2)',
          values: [invitation, isAccepted],
          gives: { invited: space, others: 'PT404' },
        })),
    },
    'move_document(uuid,uuid)': {
      because: 'people cannot change the library of a row',
      calls: () => [
        {
          text: 'select move_document($1, null)',
          values: [idOf('document of space')],
          gives: { owner: '', editor: '', reader: REFUSED, others: 'PT404' },
        },
        {
          text: 'select move_document($1, $2)',
          values: [idOf('own document'), randomUUID()],
          gives: { others: 'PT404' },
        },
        {
          text: 'select move_document($1, $2)',
          values: [idOf('document of space'), people.stranger.sub],
          gives: { reader: REFUSED, others: 'PT404' },
        },
      ],
    },
    'copy_document(uuid,uuid)': {
      because: 'people cannot name the bytes of a new row',
      calls: () => [
        {
          text: 'select copy_document($1, null) is not null',
          values: [idOf('document of space')],
          gives: { owner: true, editor: true, reader: REFUSED, others: 'PT404' },
        },
        {
          text: 'select copy_document($1, $2)',
          values: [idOf('own document'), randomUUID()],
          gives: { others: 'PT404' },
        },
        {
          text: 'select copy_document($1, $2)',
          values: [idOf('document of space'), people.stranger.sub],
          gives: { reader: REFUSED, others: 'PT404' },
        },
      ],
    },
    'copy_conversation(uuid,uuid)': {
      because: 'people cannot write answers',
      calls: () => [
        {
          text: 'select copy_conversation($1, null)',
          values: [conversations.get('shared')],
          // An answer is being written.
          gives: { owner: REFUSED, editor: 'PT409', reader: REFUSED, others: 'PT404' },
        },
        {
          text: 'select copy_conversation($1, null)',
          values: [conversations.get('hidden of former')],
          gives: { others: 'PT404' },
        },
        {
          text: 'select copy_conversation($1, $2)',
          values: [conversations.get('personal'), randomUUID()],
          gives: { others: 'PT404' },
        },
      ],
    },
    'move_conversation(uuid,uuid)': {
      because: 'people cannot change the space of a row',
      calls: () => [
        {
          text: 'select move_conversation($1, null)',
          values: [conversations.get('shared')],
          // An answer is being written.
          gives: { owner: REFUSED, editor: 'PT409', reader: REFUSED, others: 'PT404' },
        },
        {
          text: 'select move_conversation($1, null)',
          values: [conversations.get('hidden of former')],
          gives: { others: 'PT404' },
        },
        {
          text: 'select move_conversation($1, $2)',
          values: [conversations.get('personal'), randomUUID()],
          gives: { others: 'PT404' },
        },
      ],
    },
    'absence_of_document(uuid,uuid)': {
      because: 'who reads a citation is told why its document is out of reach',
      calls: () => [
        {
          text: 'select absence_of_document($1, id) from messages where conversation_id = $2 and sender_role = 2',
          values: [idOf('own document'), conversations.get('shared')],
          gives: { owner: null, editor: 'person', reader: 'person', others: undefined },
        },
        {
          text: 'select absence_of_document($1, id) from messages where conversation_id = $2 and sender_role = 2',
          values: [idOf('document of space'), conversations.get('shared of former')],
          gives: { owner: null, editor: null, reader: null, others: undefined },
        },
        {
          text: 'select absence_of_document($1, $2)',
          values: [idOf('own document'), answers.get('shared')],
          gives: { owner: null, editor: 'person', reader: 'person', others: null },
        },
      ],
    },
    'unshare_conversation(uuid)': {
      because: 'an owner may not read the row that an update would leave',
      calls: () => [
        {
          text: 'select unshare_conversation($1)',
          values: [conversations.get('shared')],
          gives: { owner: '', editor: '', reader: REFUSED, others: 'PT404' },
        },
        {
          text: 'select unshare_conversation($1)',
          values: [conversations.get('hidden of former')],
          gives: { others: 'PT404' },
        },
        {
          text: 'select unshare_conversation($1)',
          values: [conversations.get('personal')],
          gives: { others: 'PT404' },
        },
      ],
    },
  }
  let invitation: string

  /** The value that a call gives, or the SQLSTATE of its rejection; rolled back. */
  async function call(role: Role, { text, values = [] }: Call): Promise<unknown> {
    let given: unknown
    const undone = new Error('undone')
    try {
      await db.database.asUser(claimsOf(role), async (scope) => {
        const { rows } = await scope.query<Record<string, unknown>>(text, values)
        given = Object.values(rows[0] ?? {})[0]
        throw undone
      })
    } catch (error) {
      if (error !== undone) return codeOf(error) ?? String(error)
    }
    return given
  }

  test('that run with their owner’s rights are called by people only where this says why', async () => {
    const { rows } = await db.admin.query<{ name: string }>(`
      select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where p.prosecdef and n.nspname !~ '^pg_'
        and (has_function_privilege('anon', p.oid, 'execute') or has_function_privilege('authenticated', p.oid, 'execute'))`)
    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(CALLED).sort())
  })

  test.each(Object.keys(CALLED))('%s gives each role what it may have', async (name) => {
    const { rows } = await db.admin.query<{ id: string }>('select id from space_invitations')
    invitation = rows[0]?.id ?? ''
    for (const tried of CALLED[name]?.calls() ?? [])
      for (const role of ROLES) {
        const expected: unknown = role in tried.gives ? tried.gives[role] : tried.gives.others
        expect(await call(role, tried), `${role}: ${tried.text}`).toEqual(role === 'anonymous' ? REFUSED : expected)
      }
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

  test('the search finds passages for those who read their library', async () => {
    const found = async (role: Role) =>
      (await db.database.asUser(claimsOf(role), (scope) => searchPassages(scope, 'reading lamp'))).length
    const counts: Partial<Record<Role, number>> = {}
    for (const role of SIGNED_IN) counts[role] = await found(role)
    expect(counts).toEqual({ owner: 2, editor: 1, reader: 1, invited: 0, former: 0, stranger: 0 })
  })
})
