import { Hono } from 'hono'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changesSince, type ChangesSince } from '#contract/changes.ts'
import type { PersonClaims, SignedIn } from '#server/access/authenticate.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { createChangeRoutes } from './changes.ts'

let db: TestDatabase
let person: PersonClaims
let other: PersonClaims

beforeAll(async () => {
  db = await createTestDatabase()
  person = { ...(await db.createPerson()), exp: 0 }
  other = { ...(await db.createPerson()), exp: 0 }
})
afterAll(() => db.drop())

async function ask(
  since?: string,
  { conversation, as = person }: { conversation?: string; as?: PersonClaims } = {},
): Promise<ChangesSince> {
  const app = new Hono<SignedIn>()
  app.use((context, next) => {
    context.set('claims', as)
    return next()
  })
  app.route('/', createChangeRoutes({ database: db.database }))
  const query = new URLSearchParams({
    ...(since === undefined ? {} : { since }),
    ...(conversation === undefined ? {} : { conversation }),
  })
  const response = await app.request(`/changes?${query.toString()}`)
  expect(response.status).toBe(200)
  return changesSince.parse(await response.json())
}

async function add(owner: PersonClaims, title: string, client: Pick<TestDatabase['admin'], 'query'> = db.admin) {
  const { rows } = await client.query<{ id: string }>(
    `insert into conversations (uid, title, model_name) values ($1, $2, 'some-model') returning id`,
    [owner.sub, title],
  )
  return rows[0]?.id ?? ''
}

const NOTHING = {
  is_complete: true,
  conversations: [],
  documents: [],
  deleted_conversations: [],
  deleted_documents: [],
  have_models_changed: false,
}

test('nothing changed', async () => {
  await add(person, 'earlier')
  const { moment } = await ask()
  expect(await ask(moment)).toMatchObject(NOTHING)
})

test('rows of the person that were written, changed and deleted, and none of another', async () => {
  const [renamed, deleted] = [await add(person, 'old name'), await add(person, 'deleted')]
  const theirs = await add(other, 'theirs')
  const { moment } = await ask()
  const added = await add(person, 'added')
  await db.admin.query(`update conversations set title = 'new name' where id = any ($1)`, [[renamed, theirs]])
  await db.admin.query('delete from conversations where id = any ($1)', [[deleted, await add(other, 'also theirs')]])
  const changes = await ask(moment)
  expect(changes.conversations.map(({ id, title }) => [id, title]).toSorted()).toEqual(
    [
      [added, 'added'],
      [renamed, 'new name'],
    ].toSorted(),
  )
  expect(changes.deleted_conversations).toEqual([deleted])
})

test('a change that was under way at the moment, and committed later', async () => {
  const client = await db.admin.connect()
  await client.query('begin')
  const id = await add(person, 'slow', client)
  const { moment } = await ask()
  expect(await ask(moment)).toMatchObject(NOTHING)
  await client.query('commit')
  client.release()
  expect((await ask(moment)).conversations.map((row) => row.id)).toEqual([id])
})

test('a moment that is not known, too long ago, or of another server, is answered with everything', async () => {
  const { moment } = await ask()
  const known = JSON.parse(Buffer.from(moment, 'base64url').toString()) as Record<string, unknown>
  const encode = (changed: object) => Buffer.from(JSON.stringify({ ...known, ...changed })).toString('base64url')
  expect(await ask(encode({}))).toMatchObject({ is_complete: true })
  for (const since of [
    'nonsense',
    encode({ at: Number(known['at']) - 11 * 60_000 }),
    encode({ startedAt: '2020-01-01 00:00:00+00' }),
    encode({ snapshot: '9999999999999999999999:1:' }),
    encode({ snapshot: '5:3:' }),
    encode({ snapshot: `1:1:'; select 1` }),
    encode({ snapshot: '1:1:\u0000' }),
  ])
    expect(await ask(since)).toMatchObject({ ...NOTHING, is_complete: false })
})

test('more changes than are worth filtering', async () => {
  const { moment } = await ask()
  await db.admin.query(
    `insert into conversations (uid, title, model_name) select $1, 'many', 'some-model' from generate_series(1, 1001)`,
    [other.sub],
  )
  expect(await ask(moment)).toMatchObject({ ...NOTHING, is_complete: false })
})

async function addMessage(conversationId: string, content: string): Promise<string> {
  const { rows } = await db.admin.query<{ id: string }>(
    'insert into messages (conversation_id, content, sender_role) values ($1, $2, 2) returning id',
    [conversationId, content],
  )
  return rows[0]?.id ?? ''
}

test('messages of a named conversation that were written and changed, oldest first, to its owner alone', async () => {
  const [asked, another] = [await add(person, 'asked for'), await add(person, 'another')]
  const changed = await addMessage(asked, 'first version')
  await addMessage(asked, 'unchanged')
  const { moment } = await ask()
  expect((await ask(moment, { conversation: asked })).messages).toEqual([])
  const added = await addMessage(asked, 'added')
  await addMessage(another, 'elsewhere')
  await db.admin.query(`update messages set content = 'second version' where id = $1`, [changed])
  const { messages } = await ask(moment, { conversation: asked })
  expect(messages?.map(({ id, content }) => [id, content])).toEqual([
    [changed, 'second version'],
    [added, 'added'],
  ])
  expect((await ask(moment)).messages).toBeUndefined()
  expect((await ask(moment, { conversation: asked, as: other })).messages).toEqual([])
})

test('each answer is followed by the next one from its moment: nothing comes twice, and nothing is left out', async () => {
  const conversation = await add(person, 'followed')
  const seen: string[] = []
  let { moment } = await ask()
  for (const content of ['one', 'two', 'three']) {
    await addMessage(conversation, content)
    const answer = await ask(moment, { conversation })
    seen.push(...(answer.messages ?? []).map((row) => row.content))
    moment = answer.moment
  }
  expect(seen).toEqual(['one', 'two', 'three'])
  expect(await ask(moment, { conversation })).toMatchObject({ ...NOTHING, messages: [] })
})
