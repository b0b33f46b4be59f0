import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Claims } from '#server/database/scope.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { ask, createConversation, createSpace, join, type Person, remove } from '#test/spaces.ts'
import { SEARCH_SCOPE, searchMessages } from './search-messages.ts'

let db: TestDatabase
let owner: Claims & { sub: string }

beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())
beforeEach(async () => {
  owner = await db.createPerson()
})

async function say(person: Claims & { sub: string }, contents: readonly string[], role = 1): Promise<string[]> {
  const conversationId = randomUUID()
  await db.admin.query(`insert into conversations (id, uid, model_name, title) values ($1, $2, 'm', 'About lamps')`, [
    conversationId,
    person.sub,
  ])
  const ids = contents.map(() => randomUUID())
  for (const [index, content] of contents.entries()) {
    await db.admin.query('insert into messages (id, conversation_id, content, sender_role) values ($1, $2, $3, $4)', [
      ids[index],
      conversationId,
      content,
      role,
    ])
  }
  return ids
}

const find = (person: Claims, search: string) => searchMessages(db.database, person, search)
const idsOf = async (person: Claims, search: string) => (await find(person, search)).map((found) => found.message_id)

test('everywhere, also in conversations that others have shared, and in no others', async () => {
  const [other, stranger] = [await db.createPerson(), await db.createPerson()]
  const [space, foreign] = [await createSpace(db, other), await createSpace(db, stranger)]
  await join(db, other, space, owner, 'reader')
  const said = async (person: Person, place: string | null, isShared: boolean) =>
    ask(db, person, await createConversation(db, person, { space: place, isShared }), 'A lamp')
  const own = await said(owner, null, false)
  const ownInSpace = await said(owner, space, true)
  const shared = await said(other, space, true)
  await said(other, space, false)
  await said(other, null, false)
  await said(stranger, foreign, true)
  expect(await idsOf(owner, 'lamp')).toEqual([shared, ownInSpace, own])
  const within = (place: string) => searchMessages(db.database, owner, 'lamp', place)
  expect((await within('personal')).map((found) => found.message_id)).toEqual([own])
  expect((await within(space)).map((found) => found.message_id)).toEqual([shared, ownInSpace])
  expect(await within(foreign)).toEqual([])
  await remove(db, other, space, owner)
  expect(await idsOf(owner, 'lamp')).toEqual([own])
})

describe('messages are found', () => {
  test('by the beginning of words, all of them, in any order, newest first', async () => {
    const [older, newer] = await say(owner, ['The reading lamp stands here', 'A lamp for reading', 'A lamp'])
    expect(await idsOf(owner, 'lam read')).toEqual([newer, older])
    expect(await idsOf(owner, 'lamp candle')).toEqual([])
  })

  test('with their conversation, position and a snippet', async () => {
    const [id] = await say(owner, ['The reading lamp'], 2)
    const [found] = await find(owner, 'lamp')
    expect(found).toMatchObject({
      message_id: id,
      title: 'About lamps',
      sender_role: 2,
      snippet: [
        { text: 'The reading ', is_hit: false },
        { text: 'lamp', is_hit: true },
      ],
    })
    expect(found?.position).toEqual(expect.any(Number))
    expect(Date.parse(found?.created_at ?? '')).not.toBeNaN()
  })

  test.each([
    ['café', 'Un CAFÉ noir'],
    ['cafe', 'Un Cafe\u0301 noir'],
    ['ΟΔΟΣ', 'η οδός'],
    ['привет', 'ПРИВЕТ, мир'],
    ['本を', '図書館で本を読む'],
    ['한ㄱ', '한국어 문서'],
    ['كتاب', 'كِتَابٌ جديد'],
    ['ｗｉｄｅ', 'wide'],
    ['100%', 'a discount of 100% today'],
    ['snake_case', 'call snake_case()'],
  ])('%s finds "%s", with a mark', async (search, content) => {
    const [id] = await say(owner, ['something else entirely', content]).then((ids) => ids.slice(1))
    const found = await find(owner, search)
    expect(found.map(({ message_id: messageId }) => messageId)).toEqual([id])
    expect(found[0]?.snippet.some(({ is_hit: isHit }) => isHit)).toBe(true)
  })

  test('by their text after a change', async () => {
    const [id] = await say(owner, ['first wording'])
    await db.admin.query(`update messages set content = 'second wording' where id = $1`, [id])
    expect(await idsOf(owner, 'first')).toEqual([])
    expect(await idsOf(owner, 'second')).toEqual([id])
  })

  test('not in tool messages, and not after deletion', async () => {
    await say(owner, ['a tool says lamp'], 3)
    const [id] = await say(owner, ['a person says lamp'])
    expect(await idsOf(owner, 'lamp')).toEqual([id])
    await db.admin.query('delete from conversations where uid = $1', [owner.sub])
    expect(await idsOf(owner, 'lamp')).toEqual([])
    const remaining = await db.admin.query('select from message_texts where owner = $1', [owner.sub])
    expect(remaining.rowCount).toBe(0)
  })

  test('an empty search returns nothing', async () => {
    await say(owner, ['anything'])
    expect(await find(owner, '   ')).toEqual([])
  })
})

test('another person and an anonymous caller find nothing', async () => {
  await say(owner, ['The xylophone plays'])
  const stranger = await db.createPerson()
  const [own] = await say(stranger, ['My own xylophone'])
  expect(await idsOf(stranger, 'xylophone')).toEqual([own])
  await expect(find({ role: 'anon' }, 'xylophone')).rejects.toMatchObject({ code: '42501' })
})

test('reads only one person’s texts, by their index', async () => {
  await say(
    owner,
    Array.from({ length: 40 }, (_, index) => `text ${index}`),
  )
  const { rows } = await db.database.asUser(
    owner,
    (scope) =>
      scope.query<{ 'QUERY PLAN': string }>(
        `explain select message_id from message_texts
         where owner = (select auth.uid()) and strpos(text, 'absent') > 0 order by position desc limit 20`,
      ),
    SEARCH_SCOPE,
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toMatch(/Index Scan.*message_texts_owner_position_idx/)
  expect(plan).not.toContain('Sort')
})
