import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { createTestDatabase } from '#test/database.ts'
import { serveLoopback } from '#test/loopback.ts'
import { refreshModelsAtStart, storeListedModels } from './models.ts'

const db = await createTestDatabase()
afterAll(() => db.drop())

test('an endpoint that is not ready at the start is retried until it responds', async () => {
  let asked = 0
  const { origin } = await serveLoopback((_request, response) => {
    asked += 1
    response.writeHead(asked < 3 ? 503 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ data: [{ id: 'late', context_length: 8_192 }] }))
  })
  const none = { apiKey: undefined, baseUrl: undefined }
  const compatible = { apiKey: undefined, baseUrl: `${origin}/v1` }
  const refresh = (retryDelaysMs: readonly number[]) =>
    refreshModelsAtStart({
      database: db.database,
      settings: { anthropic: none, openai: none, compatible, idleTimeoutMs: 1_000 },
      readChoices: () => Promise.resolve({ offered: undefined, offersNew: true, defaultModel: undefined }),
      log: createLog('silent'),
      retryDelaysMs,
      signal: new AbortController().signal,
    })
  const listed = async () =>
    (
      await db.admin.query<Record<string, unknown>>(
        `select model_identifier, is_default from models where provider = 'OpenAI-compatible'`,
      )
    ).rows
  await refresh([1])
  expect([asked, await listed()]).toEqual([2, []])
  await refresh([1, 1])
  expect(asked).toBe(3)
  expect(await listed()).toEqual([{ model_identifier: 'openai-compatible/late', is_default: true }])
})

test('names that an endpoint of a person no longer lists do not pile up', async () => {
  const owner = (await db.createPerson()).sub
  const { rows } = await db.admin.query<{ id: string }>(
    `insert into own_providers (owner, kind, name, base_url) values ($1, 'compatible', 'Home', 'https://models.test')
     returning id`,
    [owner],
  )
  const ownProvider = rows[0]?.id ?? ''
  for (const round of [1, 2, 3]) {
    const models = Array.from({ length: 700 }, (_, n) => ({
      identifier: `endpoint:${ownProvider}/${round}-${n}`,
      name: `${round}-${n}`,
      contextWindow: 1_000,
      sees: false,
    }))
    await db.database.asService((scope) => storeListedModels(scope, models, { provider: 'Home', owner, ownProvider }))
  }
  const counted = await db.admin.query(
    'select is_visible, count(*)::int from models where own_provider = $1 group by 1 order by 1',
    [ownProvider],
  )
  expect(counted.rows).toEqual([
    { is_visible: false, count: 1_000 },
    { is_visible: true, count: 700 },
  ])
})

test('an endpoint with the id of another person changes none of their models', async () => {
  const [ann, ben] = [(await db.createPerson()).sub, (await db.createPerson()).sub]
  const { rows: spaces } = await db.admin.query<{ id: string }>(
    `insert into spaces (name, created_by) values ('Harbour', $1) returning id`,
    [ben],
  )
  const spaceId = spaces[0]?.id ?? ''
  const insertOwn = (owner: string, id: string) =>
    db.admin.query(
      `insert into own_providers (id, owner, kind, name, base_url) values ($1, $2, 'compatible', 'Home', 'https://a.test')`,
      [id, owner],
    )
  const insertOfSpace = (id: string) =>
    db.admin.query(
      `insert into space_providers (id, space_id, created_by, kind, name, base_url)
       values ($1, $2, $3, 'compatible', $4, 'https://b.test')`,
      [id, spaceId, ben, `Shared ${id}`],
    )
  const [ofAnn, ofSpace] = [randomUUID(), randomUUID()]
  await insertOwn(ann, ofAnn)
  await insertOfSpace(ofSpace)
  await expect(insertOfSpace(ofAnn)).rejects.toThrow('Another provider has this id.')
  await expect(insertOwn(ben, ofSpace)).rejects.toThrow('Another provider has this id.')

  const identifier = `endpoint:${ofAnn}/model`
  const store = (
    name: string,
    by: { owner: string; ownProvider: string } | { spaceId: string; spaceProvider: string },
  ) =>
    db.database.asService((scope) =>
      storeListedModels(scope, [{ identifier, name, contextWindow: 1_000, sees: false }], { provider: name, ...by }),
    )
  await store('of Ann', { owner: ann, ownProvider: ofAnn })
  await store('of Ben', { spaceId, spaceProvider: ofSpace })
  const stored = await db.admin.query('select name, owner, space_id from models where model_identifier = $1', [
    identifier,
  ])
  expect(stored.rows).toEqual([{ name: 'of Ann', owner: ann, space_id: null }])
})
