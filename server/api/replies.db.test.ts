import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { replyInProgress } from '#contract/reply-events.ts'
import type { PersonClaims, SignedIn } from '#server/access/authenticate.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { createReplyRoutes } from './replies.ts'

let db: TestDatabase
let person: PersonClaims
let other: PersonClaims
let conversationId: string
let replyId: string

beforeAll(async () => {
  db = await createTestDatabase()
  person = { ...(await db.createPerson()), exp: 0 }
  other = { ...(await db.createPerson()), exp: 0 }
  const { rows } = await db.admin.query<{ id: string }>(
    `insert into conversations (uid, title, model_name) values ($1, 'asked', 'some-model') returning id`,
    [person.sub],
  )
  conversationId = rows[0]?.id ?? ''
  await db.admin.query(`insert into messages (conversation_id, content, sender_role) values ($1, 'Why?', 1)`, [
    conversationId,
  ])
  const replies = await db.admin.query<{ id: string }>(
    `update replies set state = 'running', attempt = 2, lease_until = now() + interval '1 hour'
     where conversation_id = $1 returning id`,
    [conversationId],
  )
  replyId = replies.rows[0]?.id ?? ''
  for (const seq of [1, 2, 3]) await addPart(seq)
})
afterAll(() => db.drop())

const addPart = (seq: number) =>
  db.admin.query('insert into reply_parts (reply_id, owner, attempt, seq, payload) values ($1, $2, 2, $3, $4)', [
    replyId,
    person.sub,
    seq,
    { replyId, messageId: randomUUID(), attempt: 2, seq, type: 'text', text: `word ${seq} ` },
  ])

function request(query: string, as = person) {
  const app = new Hono<SignedIn>()
  app.use((context, next) => {
    context.set('claims', as)
    return next()
  })
  app.onError((error, context) => context.json({ message: error.message }, 400))
  app.route('/', createReplyRoutes({ database: db.database }))
  return app.request(`/conversations/${conversationId}/reply${query}`)
}

/** Numbers of the parts, and of the last one. */
async function partsOf(query: string): Promise<[number[], number]> {
  const { parts, seq } = replyInProgress.parse(await (await request(query)).json())
  return [parts.map((part) => part.seq), seq]
}

test('all parts of the reply in progress, or those after the last known one of its attempt', async () => {
  expect(await partsOf('')).toEqual([[1, 2, 3], 3])
  expect(await partsOf(`?replyId=${replyId}&attempt=2&seq=1`)).toEqual([[2, 3], 3])
  expect(await partsOf(`?replyId=${replyId}&attempt=2&seq=3`)).toEqual([[], 3])
})

test('all parts where the known one is of another attempt or reply', async () => {
  expect(await partsOf(`?replyId=${replyId}&attempt=1&seq=3`)).toEqual([[1, 2, 3], 3])
  expect(await partsOf(`?replyId=${randomUUID()}&attempt=2&seq=3`)).toEqual([[1, 2, 3], 3])
})

test('a part that cannot be one is refused, and nothing is told to another person', async () => {
  for (const query of ['?replyId=nonsense', `?attempt=-1`, '?seq=99999999999', '?seq=1.5'])
    expect((await request(query)).status).toBe(400)
  const theirs = await request(`?replyId=${replyId}&attempt=2&seq=1`, other)
  expect(theirs.status).not.toBe(200)
  expect(await theirs.text()).not.toContain('word')
})
