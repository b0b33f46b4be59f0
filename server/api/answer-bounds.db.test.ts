/** Answers of the product's API that would fill the memory of PostgreSQL and of the server, and the ways out. */
import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PersonClaims, SignedIn } from '#server/access/authenticate.ts'
import { createLog } from '#server/base/log.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { createConversationRoutes } from './conversations.ts'
import { createReplyRoutes } from './replies.ts'
import { renderApiError } from './render-error.ts'
import { createSearchRoutes } from './search.ts'

const LARGE_BYTES = 950_000
const ROWS = 40

let db: TestDatabase
let owner: PersonClaims
let conversationId: string

beforeAll(async () => {
  db = await createTestDatabase()
  owner = { ...(await db.createPerson()), exp: 0 }
  conversationId = randomUUID()
  await db.admin.query(
    `insert into conversations (id, uid, title, model_name, started_at, metadata)
     select case when i = 1 then $2::uuid else gen_random_uuid() end, $1, repeat('t', 100000), 'alcove-reader',
       timestamptz '2026-01-01' + (i / 2) * interval '1 microsecond', jsonb_build_object('filled', repeat('m', ${LARGE_BYTES}))
     from generate_series(1, ${ROWS}) i`,
    [owner.sub, conversationId],
  )
  await db.admin.query(
    `insert into messages (conversation_id, content, sender_role, metadata)
     select $1, 'lamp ' || repeat('c', ${LARGE_BYTES}), 2, jsonb_build_object('filled', repeat('m', ${LARGE_BYTES}))
     from generate_series(1, ${ROWS}) i`,
    [conversationId],
  )
})
afterAll(() => db.drop())

async function ask(path: string, as: PersonClaims = owner): Promise<{ status: number; body: unknown }> {
  const app = new Hono<SignedIn>()
  app.onError(renderApiError(createLog('silent')))
  app.use((context, next) => {
    context.set('claims', as)
    return next()
  })
  for (const routes of [createConversationRoutes, createReplyRoutes, createSearchRoutes])
    app.route('/', routes({ database: db.database }))
  const response = await app.request(path)
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
}

async function askForRows<Row>(path: string): Promise<Row[]> {
  const { status, body } = await ask(path)
  expect(status).toBe(200)
  return body as Row[]
}

const refusal = (message: RegExp) => ({
  status: 413,
  body: { error: { code: 'too_large', message: expect.stringMatching(message) as string } },
})

describe('a list past the bound is refused, and its pages hold everything', () => {
  test('conversations', async () => {
    expect(await ask(`/users/${owner.sub}/conversations`)).toMatchObject(refusal(/\?limit=100&after=/))
    const ids: string[] = []
    for (let after = ''; ;) {
      const page = await askForRows<{ id: string }>(`/users/${owner.sub}/conversations?limit=15${after}`)
      ids.push(...page.map(({ id }) => id))
      if (page.length < 15) break
      after = `&after=${page.at(-1)?.id ?? ''}`
    }
    const { rows } = await db.admin.query<{ id: string }>(
      'select id from conversations where uid = $1 order by started_at desc, id',
      [owner.sub],
    )
    expect(ids).toEqual(rows.map(({ id }) => id))
  })

  test('messages', async () => {
    expect(await ask(`/conversations/${conversationId}/messages`)).toMatchObject(refusal(/\?limit=50&before=/))
    const newest = await askForRows<{ position: number; content: string }>(
      `/conversations/${conversationId}/messages?limit=10`,
    )
    expect(newest).toHaveLength(10)
    expect(newest.map(({ position }) => position)).toEqual(newest.map(({ position }) => position).toSorted((a, b) => a - b)) // prettier-ignore
    expect(newest[0]?.content).toHaveLength(LARGE_BYTES + 5)
    const before = await askForRows<{ position: number }>(
      `/conversations/${conversationId}/messages?limit=10&before=${newest[0]?.position ?? 0}`,
    )
    expect(Math.max(...before.map(({ position }) => position))).toBeLessThan(newest[0]?.position ?? 0)
  })
})

test('an unknown or another person’s conversation begins no page', async () => {
  const stranger: PersonClaims = { ...(await db.createPerson()), exp: 0 }
  expect((await ask(`/users/${owner.sub}/conversations?after=${randomUUID()}`)).status).toBe(404)
  expect((await ask(`/users/${stranger.sub}/conversations?after=${conversationId}`, stranger)).status).toBe(404)
  expect((await ask(`/users/${owner.sub}/conversations?limit=5`, stranger)).body).toEqual([])
})

test('an ordinary list has the shape that it always had', async () => {
  const person: PersonClaims = { ...(await db.createPerson()), exp: 0 }
  const id = randomUUID()
  await db.admin.query(`insert into conversations (id, uid, title, model_name) values ($1, $2, 'Lamps', 'alcove-reader')`, [id, person.sub]) // prettier-ignore
  await db.admin.query(`insert into messages (conversation_id, content, sender_role) values ($1, 'hello', 1)`, [id])
  const { rows } = await db.admin.query<{ row: unknown }>('select to_jsonb(c) as row from conversations c where id = $1', [id]) // prettier-ignore
  expect((await ask(`/users/${person.sub}/conversations`, person)).body).toEqual(rows.map(({ row }) => row))
  const said = await db.admin.query<{ row: unknown }>('select to_jsonb(m) as row from messages m where conversation_id = $1', [id]) // prettier-ignore
  expect((await ask(`/conversations/${id}/messages`, person)).body).toEqual(said.rows.map(({ row }) => row))
})

test('a search reads the beginnings of what it finds', async () => {
  const { status, body } = await ask('/search?q=lamp')
  const { messages } = body as { messages: { title: string }[] }
  expect([status, messages.length]).toEqual([200, 20])
  expect(messages.every(({ title }) => title.length === 500)).toBe(true)
})

test('a reply in a large conversation is found without reading the conversation', async () => {
  expect((await ask(`/conversations/${conversationId}/reply`)).status).toBe(204)
})
