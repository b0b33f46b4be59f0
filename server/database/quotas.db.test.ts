import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestDatabase, databaseBefore, type TestDatabase } from '#test/database.ts'
import { toAppError } from './errors.ts'
import { migrate } from './migrate.ts'
import { ENFORCE_QUOTAS, readOwnUsage, requireTextRoom, setQuotas } from './quotas.ts'

type Person = Awaited<ReturnType<TestDatabase['createPerson']>>

const UNLIMITED = { fileBytesPerPerson: 0, textBytesPerPerson: 0, totalBytes: 0 }
const KB = 1_000

let db: TestDatabase
let owner: Person

beforeAll(async () => {
  db = await createTestDatabase()
})
beforeEach(async () => {
  owner = await db.createPerson()
  await setQuotas(db.database, UNLIMITED)
})
afterAll(() => db.drop())

const usageOf = (person: Person, of = db) => of.database.asUser(person, readOwnUsage)

async function converse(person = owner, of = db): Promise<string> {
  const id = randomUUID()
  await of.database.asUser(person, (scope) =>
    scope.query(`insert into conversations (id, model_name) values ($1, 'm')`, [id]),
  )
  return id
}

const ask = (conversation: string, bytes: number, person = owner) =>
  db.database.asUser(person, (scope) =>
    scope.query('insert into messages (conversation_id, content, sender_role) values ($1, $2, 1)', [
      conversation,
      'x'.repeat(bytes),
    ]),
  )

const answer = (conversation: string, bytes: number, of = db) =>
  of.database.asService(async (scope) => {
    const { rows } = await scope.query<{ id: string }>(
      `insert into messages (conversation_id, content, sender_role, metadata) values ($1, $2, 2, '{"sources": [1, 2]}') returning id`,
      [conversation, 'y'.repeat(bytes)],
    )
    return rows[0]?.id ?? ''
  })

const addDocument = (size: number, person = owner, settings: Readonly<Record<string, string>> = ENFORCE_QUOTAS) =>
  db.database.asService(
    (scope) =>
      scope.query(
        `insert into documents (owner, filename, originalname, mimetype, size, path, sha256)
         values ($1, 'a.txt', 'a.txt', 'text/plain', $2, $3, $3)`,
        [person.sub, size, randomUUID()],
      ),
    { settings },
  )

const putObject = (size: number, name: string = randomUUID()) =>
  db.database.asUser(owner, (scope) =>
    scope.query(
      `insert into storage.objects (bucket_id, name, owner, metadata) values ('documents', $1, $2, $3)
       on conflict (bucket_id, name) do update set metadata = excluded.metadata`,
      [`${owner.sub}/${name}`, owner.sub, { size }],
    ),
  )

const FULL = { code: 'PT413' }

test('a question beyond the quota is refused with a sentence, its answer is stored, and deleting gives room back', async () => {
  await setQuotas(db.database, { ...UNLIMITED, textBytesPerPerson: 5 * KB })
  const [first, second] = [await converse(), await converse()]
  await ask(first, 3 * KB)
  const refused: unknown = await ask(second, 2 * KB).catch((error: unknown) => error)
  expect(refused).toMatchObject({
    ...FULL,
    message: 'Your conversations use 4 kB of 5 kB. Delete some to write more.',
  })
  expect(toAppError(refused)).toMatchObject({ code: 'too_large' })
  await answer(first, 4 * KB)
  expect((await usageOf(owner)).text_bytes).toBeGreaterThan(7 * KB)
  await expect(ask(second, 1)).rejects.toMatchObject(FULL)
  await expect(converse()).rejects.toMatchObject(FULL)
  await db.database.asUser(owner, (scope) => scope.query('delete from conversations where id = $1', [first]))
  await ask(second, 2 * KB)
  await db.database.asUser(owner, (scope) => scope.query('delete from conversations'))
  expect(await usageOf(owner)).toEqual({ file_bytes: 0, file_limit: 0, text_bytes: 0, text_limit: 5 * KB })
})

test('of requests at once only those are accepted for which there is room', async () => {
  await setQuotas(db.database, { ...UNLIMITED, textBytesPerPerson: 10 * KB, fileBytesPerPerson: 50 * KB })
  const conversations = await Promise.all(Array.from({ length: 4 }, () => converse()))
  const asked = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => ask(conversations[n % 4] ?? '', 2 * KB)))
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  const uploads = await Promise.allSettled(
    Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? addDocument(12 * KB) : putObject(12 * KB))),
  )
  expect(uploads.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  for (const upload of uploads) if (upload.status === 'rejected') expect(upload.reason).toMatchObject(FULL)
  const used = await usageOf(owner)
  expect(used.text_bytes).toBeLessThanOrEqual(10 * KB)
  expect(used.file_bytes).toBeLessThanOrEqual(50 * KB)
})

test('files count as documents and as objects, whoever stores them, and free their bytes', async () => {
  await setQuotas(db.database, { ...UNLIMITED, fileBytesPerPerson: 30 * KB })
  await putObject(10 * KB, 'one')
  const twice = putObject(20 * KB, 'two')
  await expect(twice).rejects.toMatchObject({
    message: 'Your documents use 15 kB of 30 kB. Delete some to upload more.',
  })
  await putObject(20 * KB, 'one')
  await expect(addDocument(2 * KB)).rejects.toMatchObject(FULL)
  // The service key and the workers are not held to the quota of a person.
  await addDocument(2 * KB, owner, {})
  await db.database.asUser(owner, async (scope) => {
    await scope.query(`select set_config('storage.allow_delete_query', 'true', true)`)
    await scope.query('delete from storage.objects')
  })
  await addDocument(10 * KB)
  await db.database.asUser(owner, (scope) => scope.query('delete from documents'))
  expect((await usageOf(owner)).file_bytes).toBe(0)
})

test('one person’s quota does not concern another, and a total holds for all', async () => {
  const other = await db.createPerson()
  const before = await db.admin.query<{ total: string }>('select total_usage() as total')
  const total = Number(before.rows[0]?.total)
  await setQuotas(db.database, { ...UNLIMITED, fileBytesPerPerson: 20 * KB, totalBytes: total + 45 * KB })
  await addDocument(15 * KB)
  await expect(addDocument(1)).rejects.toMatchObject(FULL)
  await addDocument(15 * KB, other)
  const third = await db.createPerson()
  await expect(addDocument(10 * KB, third)).rejects.toMatchObject({
    message: 'This server is full. Delete documents or conversations, or ask its operator for more space.',
  })
  await expect(converse(third).then((id) => ask(id, 10 * KB, third))).rejects.toMatchObject(FULL)
  await db.database.asUser(other, (scope) => scope.query('delete from documents'))
  await addDocument(1, other)
  await addDocument(10 * KB, third)
})

test('a request after which the server writes is refused when there is no room', async () => {
  await setQuotas(db.database, { ...UNLIMITED, textBytesPerPerson: 5 * KB })
  const conversation = await converse()
  await ask(conversation, 1)
  const require = () => db.database.asService((scope) => requireTextRoom(scope, conversation))
  await require()
  await answer(conversation, 5 * KB)
  await expect(require()).rejects.toMatchObject(FULL)
})

test('nobody writes the counters, and everyone reads only their own', async () => {
  await converse()
  await answer(await converse(), 10)
  const other = await db.createPerson()
  for (const [person, claims] of [
    ['the owner', owner],
    ['a second user', other],
    ['anon', { role: 'anon' as const }],
  ] as const) {
    for (const change of [
      'update usage set text_bytes = 0',
      'delete from usage_changes',
      `insert into usage_changes (owner, file_bytes, text_bytes) values ('${owner.sub}', 0, -1000)`,
      'update quotas set text_bytes_per_person = 0',
      'update usage_total set bytes = 0',
      `select count_usage('${owner.sub}', 0, -1000)`,
      `select require_text_room('${owner.sub}')`,
      `select require_room_for_answer('${owner.sub}')`,
      `select require_file_room('${owner.sub}')`,
      'delete from vector_usage',
    ])
      await expect(
        db.database.asUser(claims, (scope) => scope.query(change)),
        `${person}: ${change}`,
      ).rejects.toMatchObject({ code: '42501' })
  }
  expect((await usageOf(other)).text_bytes).toBe(0)
  expect((await usageOf(owner)).text_bytes).toBeGreaterThan(0)
})

test('counters equal the sum of the rows after any changes, and go with the account', async () => {
  const conversations = [await converse(), await converse()]
  const [one = '', two = ''] = conversations
  await ask(one, 10)
  const answers = [await answer(one, 2 * KB), await answer(two, 3 * KB)]
  await db.database.asService(async (scope) => {
    await scope.query(
      `insert into message_versions (message_id, version, content, created_at) select id, 1, content, now() from messages
       where id = any($1)`,
      [answers],
    )
    await scope.query(`update messages set content = 'short', metadata = '{"error": null}' where id = $1`, [answers[0]])
  })
  await db.database.asUser(owner, async (scope) => {
    await scope.query(`update conversations set title = 'A title', metadata = '{"a": "b"}'`)
    await scope.query(
      `insert into message_feedback (message_id, rating, reason) values ($1, 1, 'good'), ($2, 1, null)`,
      answers,
    )
    await scope.query(`update message_feedback set reason = 'better' where reason is null`)
    await scope.query('delete from conversations where id = $1', [two])
  })
  const summed = await db.admin.query<{ bytes: string }>(
    `select sum(bytes) as bytes from (
       select text_size(title, model_name) + json_size(metadata) as bytes from conversations where uid = $1
       union all select text_size(content) + json_size(metadata) from messages where conversation_id = $2
       union all select text_size(v.content) + json_size(v.metadata) from message_versions v join messages m on m.id = message_id
         where m.conversation_id = $2
       union all select text_size(reason) from message_feedback where owner = $1
     ) rows`,
    [owner.sub, one],
  )
  expect((await usageOf(owner)).text_bytes).toBe(Number(summed.rows[0]?.bytes))
  await db.admin.query('delete from auth.users where id = $1', [owner.sub])
  for (const table of ['usage', 'usage_changes'])
    expect((await db.admin.query(`select from ${table} where owner = $1`, [owner.sub])).rowCount).toBe(0)
})

describe('text that is deleted or moved takes along what belongs to it', () => {
  async function answered() {
    const conversation = await converse()
    const message = await answer(conversation, 2 * KB)
    await db.database.asService(async (scope) => {
      await scope.query(
        `insert into message_versions (message_id, version, content, created_at)
         select $1, n, repeat('v', 3000), now() from generate_series(1, 2) n`,
        [message],
      )
      await scope.query(
        `insert into conversation_summaries (conversation_id, through_position, messages, content, model)
         values ($1, 1, 1, repeat('s', 1000), 'm')`,
        [conversation],
      )
    })
    return { conversation, message }
  }
  const asService = (text: string, values: readonly unknown[]) =>
    db.database.asService((scope) => scope.query(text, values))

  test('versions and summaries count, and end with their message and conversation', async () => {
    const empty = (await usageOf(owner)).text_bytes
    const { conversation, message } = await answered()
    const bytes = (await usageOf(owner)).text_bytes
    expect(bytes).toBeGreaterThan(empty + 9 * KB)
    await asService('delete from messages where id = $1', [message])
    expect((await usageOf(owner)).text_bytes).toBeLessThan(empty + 2 * KB)
    await asService('delete from conversation_summaries where conversation_id = $1', [conversation])
    await asService('delete from conversations where id = $1', [conversation])
    expect((await usageOf(owner)).text_bytes).toBe(empty)
  })

  test('a conversation with all of it, deleted at once', async () => {
    const { conversation } = await answered()
    await db.database.asUser(owner, (scope) => scope.query('delete from conversations where id = $1', [conversation]))
    expect((await usageOf(owner)).text_bytes).toBe(0)
  })

  test('a message of another conversation, and a conversation of another person', async () => {
    const other = await db.createPerson()
    const { conversation, message } = await answered()
    const theirs = await converse(other)
    const [mine, empty] = [(await usageOf(owner)).text_bytes, (await usageOf(other)).text_bytes]
    await asService('update messages set conversation_id = $2 where id = $1', [message, theirs])
    const moved = mine - (await usageOf(owner)).text_bytes
    expect(moved).toBeGreaterThan(8 * KB)
    expect((await usageOf(other)).text_bytes).toBe(empty + moved)
    await asService('update messages set conversation_id = $2 where id = $1', [message, conversation])
    await asService('update conversations set uid = $2 where id = $1', [conversation, other.sub])
    expect((await usageOf(owner)).text_bytes).toBe(0)
    expect((await usageOf(other)).text_bytes).toBe(empty + mine)
    await asService('delete from conversations where uid = $1', [other.sub])
    expect((await usageOf(other)).text_bytes).toBe(0)
  })
})

/** SQL of a list of numbers, about 15 bytes each. The text of 10,000 has 1.3 GB, which PostgreSQL cannot write out. */
const longNumbers = (count: number) => `('[' || repeat('1e131071,', ${count - 1}) || '1]')::jsonb`
const changeAll = (of: TestDatabase, person: Person, numbers: string) =>
  of.admin.query(
    `with c as (update conversations set metadata = ${numbers} where uid = $1 returning id)
     update messages m set metadata = ${numbers} from c where m.conversation_id = c.id`,
    [person.sub],
  )

test('numbers count as they are stored: they are never written out', async () => {
  const id = await converse()
  const message = await answer(id, 10)
  await changeAll(db, owner, longNumbers(10_000))
  const { text_bytes } = await usageOf(owner)
  expect(text_bytes).toBeGreaterThan(200 * KB)
  expect(text_bytes).toBeLessThan(400 * KB)
  await db.database.asService((scope) => scope.query(`update messages set metadata = '1' where id = $1`, [message]))
  const half = (await usageOf(owner)).text_bytes
  expect(half).toBeLessThan(text_bytes * 0.6)
  await db.database.asUser(owner, (scope) => scope.query('delete from conversations where id = $1', [id]))
  expect((await usageOf(owner)).text_bytes).toBe(0)
})

test('preferences and tools whose numbers are long are bounded by their bytes', async () => {
  const prefer = `insert into user_settings (preferences) values (${longNumbers(40_000)})`
  await expect(db.database.asUser(owner, (scope) => scope.query(prefer))).rejects.toMatchObject({
    code: 'PT413',
    message: 'Your preferences may take at most 256 kB.',
  })
  const add = `insert into tool_servers (name, url, tools) values ('s', 'https://tools.test', ${longNumbers(150_000)})`
  await expect(db.database.asUser(owner, (scope) => scope.query(add))).rejects.toMatchObject({
    code: 'PT413',
    message: 'The tools of one server may be described in at most 1 MB.',
  })
  await db.database.asUser(owner, (scope) =>
    scope.query(`insert into tool_servers (name, url, tools) values ('s', 'https://tools.test', '[]')`),
  )
  const describe = (tools: string) =>
    db.database.asService((scope) =>
      scope.query(`update tool_servers set tools = ${tools} where owner = $1`, [owner.sub]),
    )
  expect((await describe(longNumbers(10))).rowCount).toBe(1)
  await expect(describe(longNumbers(150_000))).rejects.toMatchObject({
    code: 'PT413',
    message: 'The tools of one server may be described in at most 1 MB.',
  })
})

test('the total includes what no quota was applied to yet', async () => {
  const totalOf = async () =>
    Number((await db.admin.query<{ total: string }>('select total_usage() as total')).rows[0]?.total)
  const conversation = await converse()
  const before = await totalOf()
  await answer(conversation, 5 * KB)
  expect(await totalOf()).toBeGreaterThanOrEqual(before + 5 * KB)
})

test('an upgrade counts what exists, whatever its numbers', async () => {
  const old = await databaseBefore('0046')
  const person = await old.createPerson()
  const conversation = await converse(person, old)
  await answer(conversation, 4 * KB, old)
  await changeAll(old, person, longNumbers(10_000))
  await old.admin.query(
    `insert into documents (owner, filename, originalname, mimetype, size, path, sha256)
     values ($1, 'a.txt', 'a.txt', 'text/plain', 5000, 'p', 's')`,
    [person.sub],
  )
  await migrate(old.adminConnection, { authenticatorPassword: null })
  const counted = await usageOf(person, old)
  expect(counted.text_bytes).toBeGreaterThan(204 * KB)
  expect(counted.file_bytes).toBe(9096)
  await old.database.asUser(person, (scope) => scope.query('delete from conversations'))
  expect(await usageOf(person, old)).toEqual({ ...counted, text_bytes: 0 })
  await old.database.asService((scope) => scope.query('delete from documents'))
  expect(await usageOf(person, old)).toEqual({ ...counted, text_bytes: 0, file_bytes: 0 })
})

describe('limits of what a person connects', () => {
  const connect = (n: number) =>
    db.database.asUser(owner, (scope) =>
      scope.query(`insert into own_providers (kind, name, base_url) values ('compatible', $1, 'https://models.test')`, [
        `p${n}`,
      ]),
    )
  const addServer = (n: number, tools = '[]') =>
    db.database.asUser(owner, (scope) =>
      scope.query(`insert into tool_servers (name, url, tools) values ($1, 'https://tools.test', $2)`, [
        `s${n}`,
        tools,
      ]),
    )

  test.each([
    ['providers', connect, 20, '20 providers are connected already. Remove one first.'],
    ['tool servers', addServer, 10, '10 servers are connected already. Remove one first.'],
  ])('%s, also when many are connected at once', async (_, add, limit, message) => {
    const added = await Promise.allSettled(Array.from({ length: limit + 5 }, (__, n) => add(n)))
    const refused = added.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    expect(refused).toHaveLength(5)
    for (const reason of refused) expect(reason).toMatchObject({ code: 'PT409', message })
    expect(toAppError(refused[0])).toMatchObject({ code: 'conflict', message })
  })

  test('the descriptions of tools, the names in consents, and preferences', async () => {
    await expect(addServer(1, JSON.stringify(['x'.repeat(1_000_001)]))).rejects.toMatchObject(FULL)
    await addServer(1)
    const conversation = await converse()
    const consent = (tool: string) =>
      db.database.asUser(owner, (scope) =>
        scope.query(
          'insert into tool_consents (conversation_id, server_id, tool) select $1, id, $2 from tool_servers',
          [conversation, tool],
        ),
      )
    await consent('add')
    await expect(consent('t'.repeat(1_001))).rejects.toMatchObject(FULL)
    const prefer = (text: string) =>
      db.database.asUser(owner, (scope) =>
        scope.query(
          `insert into user_settings (preferences) values ($1)
           on conflict (owner) do update set preferences = excluded.preferences`,
          [{ text }],
        ),
      )
    await prefer('x')
    await expect(prefer('x'.repeat(256_000))).rejects.toMatchObject({
      ...FULL,
      message: 'Your preferences may take at most 256 kB.',
    })
  })
})
