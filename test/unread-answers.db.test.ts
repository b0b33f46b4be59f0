/** Which conversations have an answer that a person has not read, and who may know. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, databaseBefore, type TestDatabase } from './database.ts'
import { migrate } from '#server/database/migrate.ts'
import { attemptAs, createSpace, join, type Person, rejectionOf, remove, runAs } from './spaces.ts'

let db: TestDatabase
let ada: Person
let bob: Person
let eve: Person
let space: string

beforeAll(async () => {
  db = await createTestDatabase()
  ;[ada, bob, eve] = await Promise.all([db.createPerson(), db.createPerson(), db.createPerson()])
  space = await createSpace(db, ada)
  await join(db, ada, space, bob, 'reader')
}, 60_000)
afterAll(() => db.drop())

async function begin(author: Person, { inSpace = false, isShared = false } = {}): Promise<string> {
  const id = randomUUID()
  await runAs(db, author, `insert into conversations (id, model_name, space_id, is_shared) values ($1, 'm', $2, $3)`, [
    id,
    inSpace ? space : null,
    isShared,
  ])
  return id
}

/** @returns the position of the answer */
async function answer(conversation: string): Promise<string> {
  const { rows } = await db.admin.query<{ position: string }>(
    `insert into messages (conversation_id, content, sender_role, author) values ($1, 'There.', 2, null) returning position`,
    [conversation],
  )
  return rows[0]?.position ?? ''
}

const read = (person: Person, conversation: string, position: string) =>
  runAs(db, person, 'select read_conversation($1, $2)', [conversation, position])

async function unread(person: Person): Promise<string[]> {
  const rows = await runAs<{ conversation_id: string }>(db, person, 'select * from unread_conversations()')
  return rows.map(({ conversation_id: id }) => id)
}

test('a conversation is unread from an answer until it is read up to it, and again after the next', async () => {
  const conversation = await begin(ada)
  expect(await unread(ada)).not.toContain(conversation)
  const first = await answer(conversation)
  expect(await unread(ada)).toContain(conversation)
  await read(ada, conversation, first)
  expect(await unread(ada)).not.toContain(conversation)
  const second = await answer(conversation)
  await read(ada, conversation, first)
  expect(await unread(ada)).toContain(conversation)
  await read(ada, conversation, second)
  // A device that lags behind takes nothing back.
  await read(ada, conversation, first)
  expect(await unread(ada)).not.toContain(conversation)
})

test('in a space it counts for its author, and for other members while it is shared', async () => {
  const conversation = await begin(ada, { inSpace: true })
  await answer(conversation)
  expect(await unread(ada)).toContain(conversation)
  expect(await unread(bob)).not.toContain(conversation)
  await runAs(db, ada, 'update conversations set is_shared = true where id = $1', [conversation])
  expect(await unread(bob)).toContain(conversation)
  expect(await unread(eve)).not.toContain(conversation)
  await runAs(db, ada, 'update conversations set is_shared = false where id = $1', [conversation])
  expect(await unread(bob)).not.toContain(conversation)
  await runAs(db, ada, 'select move_conversation($1, null)', [conversation])
  const [moved] = await runAs(db, ada, 'select space_id from unread_conversations() where conversation_id = $1', [
    conversation,
  ])
  expect(moved).toEqual({ space_id: null })
})

test('what was answered before a person joined is not unread', async () => {
  const late = await db.createPerson()
  const conversation = await begin(ada, { inSpace: true, isShared: true })
  await answer(conversation)
  await join(db, ada, space, late, 'reader')
  expect(await unread(late)).toEqual([])
  await answer(conversation)
  expect(await unread(late)).toEqual([conversation])
  await remove(db, ada, space, late)
  expect(await unread(late)).toEqual([])
})

test('marks are a person’s own, of conversations that it may read', async () => {
  const conversation = await begin(ada)
  const position = await answer(conversation)
  await read(ada, conversation, position)
  await read(eve, conversation, position)
  const { rows } = await db.admin.query('select user_id from conversation_reads where conversation_id = $1', [
    conversation,
  ])
  expect(rows).toEqual([{ user_id: ada.sub }])
  expect(await attemptAs(db, eve, 'select from conversation_reads')).toBe(0)
  expect(await attemptAs(db, eve, 'update conversation_reads set position = 0')).toBe(0)
  expect(await attemptAs(db, eve, 'select from latest_answers')).toBe(0)
  const insert = 'insert into conversation_reads (user_id, conversation_id, position) values ($1, $2, 1)'
  expect(await rejectionOf(runAs(db, eve, insert, [eve.sub, conversation]))).toBe('42501')
  expect(await rejectionOf(runAs(db, eve, insert, [ada.sub, await begin(eve)]))).toBe('42501')
})

test('copied answers are not unread, and none are of the time before the upgrade', async () => {
  const copy = await begin(ada)
  await db.admin.query(`begin; set local alcove.copies_answered = 'on';
    insert into messages (conversation_id, content, sender_role, author) values ('${copy}', 'There.', 2, null); commit`)
  expect(await unread(ada)).not.toContain(copy)

  const before = await databaseBefore('0071')
  const person = await before.createPerson()
  const conversation = randomUUID()
  await before.admin.query(`insert into conversations (id, uid, model_name) values ($1, $2, 'm')`, [
    conversation,
    person.sub,
  ])
  await before.admin.query(
    `insert into messages (conversation_id, content, sender_role, author) values ($1, 'There.', 2, null)`,
    [conversation],
  )
  await migrate(before.adminConnection, { authenticatorPassword: null })
  expect(await runAs(before, person, 'select * from unread_conversations()')).toEqual([])
})

test('of many, the newest hundred of each place count, and none after thirty days', async () => {
  const many = await db.createPerson()
  await db.admin.query(
    `with made as (
       insert into conversations (uid, model_name) select $1, 'm' from generate_series(1, 150) returning id
     )
     insert into messages (conversation_id, content, sender_role, author) select id, 'There.', 2, null from made`,
    [many.sub],
  )
  expect(await unread(many)).toHaveLength(100)
  await db.admin.query(`update latest_answers set answered_at = now() - interval '31 days' where owner = $1`, [
    many.sub,
  ])
  expect(await unread(many)).toEqual([])
})
