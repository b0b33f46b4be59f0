/** Reads of conversations for the server's own use, where messages are large. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { findEarlierMessages } from './earlier-message-queries.ts'
import { readFirstExchange, readTurns } from './queries.ts'

let db: TestDatabase
let owner: Awaited<ReturnType<TestDatabase['createPerson']>>
const conversationId = randomUUID()
const questionId = randomUUID()

beforeAll(async () => {
  db = await createTestDatabase()
  owner = await db.createPerson()
  await db.admin.query(`insert into conversations (id, uid, title, model_name) values ($1, $2, 'Lamps', 'alcove-reader')`, [conversationId, owner.sub]) // prettier-ignore
  await db.admin.query(
    `insert into messages (conversation_id, content, sender_role, metadata)
     select $1, i || ' lamp ' || repeat('c', 3000000), 2, jsonb_build_object('documentIds', repeat('d', 200000), 'tool_name', repeat('n', 500))
     from generate_series(1, 20) i`,
    [conversationId],
  )
  await db.admin.query(
    `insert into messages (id, conversation_id, content, sender_role) values ($1, $2, 'lamp? ' || repeat('q', 3000000), 1)`,
    [questionId, conversationId],
  )
})
afterAll(() => db.drop())

test('a prompt reads the newest turns up to a bound, the beginning of each, and of metadata what it needs', async () => {
  const turns = await db.database.asUser(owner, (scope) => readTurns(scope, conversationId, questionId, 200))
  expect(turns.at(-1)).toMatchObject({ id: questionId, sender_role: 1, document_ids: null })
  expect(turns.map(({ content }) => content.slice(0, 3))).toEqual(['16 ', '17 ', '18 ', '19 ', '20 ', 'lam'])
  expect(turns.every(({ content }) => content.length === 1_000_000)).toBe(true)
  expect(turns[0]).toMatchObject({ tool_name: 'n'.repeat(200), document_ids: null })
})

test('a title reads the beginnings of the first exchange', async () => {
  const exchange = await db.database.asUser(owner, (scope) => readFirstExchange(scope, conversationId))
  expect(exchange?.question).toHaveLength(10_000)
})

test('a search for earlier messages reads as much of each as it looks through', async () => {
  const { messages } = await db.database.asUser(owner, (scope) =>
    findEarlierMessages(scope, ['lamp'], { conversationId: randomUUID(), after: 0 }),
  )
  expect(messages).toHaveLength(21)
  expect(messages.every(({ content }) => content.length === 400_000)).toBe(true)
})
