import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ListedConversation } from '#contract/conversation.ts'
import type { Claims } from '#server/database/scope.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { type ListedPage, listPinnedFirst, searchTitles } from './queries.ts'

let db: TestDatabase
let owner: Claims & { sub: string }

beforeAll(async () => {
  db = await createTestDatabase()
  await db.admin.query(
    `insert into models (name, version, model_identifier, provider, family, is_visible, context_window)
     values ('Large Thinker', '1', 'stub/thinker', 'OpenAI', 'stub', true, 8000), ('Hidden', '1', 'stub/hidden', 'OpenAI', 'stub', false, 8000)`,
  )
})
afterAll(() => db.drop())
beforeEach(async () => {
  owner = await db.createPerson()
})

interface Given {
  readonly title: string | null
  readonly model?: string
  readonly pinned?: boolean
  readonly startedAt?: string
}

async function store(given: readonly Given[], person = owner): Promise<string[]> {
  const ids = given.map(() => randomUUID())
  for (const [index, { title, model = 'stub/thinker', pinned = false, startedAt = '2026-03-01' }] of given.entries()) {
    await db.admin.query(
      'insert into conversations (id, uid, title, model_name, pinned, started_at) values ($1, $2, $3, $4, $5, $6)',
      [ids[index], person.sub, title, model, pinned, startedAt],
    )
  }
  return ids
}

const list = async (page: ListedPage = {}, reader: Claims = owner): Promise<ListedConversation[]> =>
  JSON.parse(
    await db.database.asUser(reader, (scope) => listPinnedFirst(scope, owner.sub, page)),
  ) as ListedConversation[]
const titles = (rows: readonly ListedConversation[]) => rows.map(({ title }) => title)

describe('the list', () => {
  test('has the pinned conversations first, then the newest', async () => {
    await store([
      { title: 'old', startedAt: '2026-01-01' },
      { title: 'pinned, old', startedAt: '2025-01-01', pinned: true },
      { title: 'new', startedAt: '2026-02-01' },
      { title: 'pinned, new', startedAt: '2025-02-01', pinned: true },
    ])
    expect(titles(await list())).toEqual(['pinned, new', 'pinned, old', 'new', 'old'])
  })

  test('is complete in pages, also where conversations began at the same time', async () => {
    const ids = await store(Array.from({ length: 23 }, (_, index) => ({ title: `${index}`, pinned: index % 3 === 0 })))
    const read: ListedConversation[] = []
    for (;;) {
      const page = await list({ after: read.at(-1)?.id, limit: 5 })
      read.push(...page)
      if (page.length < 5) break
    }
    expect(read).toEqual(await list())
    expect(read.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  })

  test('names the origin of a branch, and leaves the metadata out', async () => {
    const [origin, branch] = await store([{ title: 'origin' }, { title: 'branch' }])
    await db.admin.query(
      `update conversations set metadata = jsonb_build_object('branched_from', $2::text, 'other', 1) where id = $1`,
      [branch, origin],
    )
    const listed = (await list()).find(({ id }) => id === branch)
    expect(listed).toMatchObject({ branched_from: origin })
    expect(listed).not.toHaveProperty('metadata')
  })

  test.each([
    ['BEES', ['Bees of the Alps']],
    ['s of', ['Bees of the Alps', 'Wasps of the valley']],
    ['éTÉ', ['L’Été à la mer']],
    ['100%', ['100% sure']],
    ['a_b', ['a_b*c\\d']],
    ['b*c\\', ['a_b*c\\d']],
    ['untitled', [null, '  ']],
    ['large think', ['by the thinker']],
    ['stub/thinker', []],
    ['stub/hid', ['by a hidden model']],
    ['own-model', ['by an endpoint']],
    ['endpoint', ['by an endpoint']],
    ['nothing', []],
  ])('search for %s finds %j', async (search, expected) => {
    await store(
      [
        { title: 'Bees of the Alps' },
        { title: 'Wasps of the valley' },
        { title: 'L’Été à la mer' },
        { title: '100% sure' },
        { title: 'a_b*c\\d' },
        { title: 'acb' },
        { title: null },
        { title: '  ' },
        { title: 'by a hidden model', model: 'stub/hidden' },
        { title: 'by an endpoint', model: 'endpoint:11/own-model' },
      ].map((given) => ({ model: 'other', ...given })),
    )
    await store([{ title: 'by the thinker' }])
    expect(titles(await list({ search })).toSorted()).toEqual([...expected].toSorted())
  })

  test('shows another person nothing', async () => {
    const stranger = await db.createPerson()
    const [id] = await store([{ title: 'Bees' }, { title: 'Wasps' }])
    expect(await list({}, stranger)).toEqual([])
    expect(await list({ search: 'bees' }, stranger)).toEqual([])
    await expect(list({ after: id }, stranger)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the search of titles', () => {
  const search = (words: readonly string[], reader: Claims = owner) =>
    db.database.asUser(reader, (scope) => searchTitles(scope, words, { limit: 50 }))

  test('finds all words in any order, ignoring case and accents, newest first', async () => {
    await store([
      { title: 'Bees of the Älps', startedAt: '2026-01-01' },
      { title: 'The alps and their bees', startedAt: '2026-02-01' },
      { title: 'Alps' },
    ])
    expect(titles(await search(['alp', 'BEE']))).toEqual(['The alps and their bees', 'Bees of the Älps'])
  })

  test('shows another person nothing', async () => {
    await store([{ title: 'Bees' }])
    expect(await search(['bees'], await db.createPerson())).toEqual([])
  })
})
