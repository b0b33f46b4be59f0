/** Decisions about models of the installation: which are offered, which is the default, and how servers wait for each other. */
import { expect, test, vi } from 'vitest'
import { createLog } from '#server/base/log.ts'
import type { Scope } from '#server/database/scope.ts'
import { migrate } from '#server/database/migrate.ts'
import { databaseBefore, temporaryDatabase, type TestDatabase } from '#test/database.ts'
import { serveLoopback } from '#test/loopback.ts'
import { refreshModels, storeListedModels } from './models.ts'
import { type ModelChoices, storeChoices } from './offered-models.ts'

const UNDECIDED: ModelChoices = { offered: undefined, offersNew: true, defaultModel: undefined }
const COMPATIBLE = ['OpenAI-compatible']
const none = { apiKey: undefined, baseUrl: undefined }

const list = (scope: Scope, names: readonly string[], contextWindow = 8_192) =>
  storeListedModels(
    scope,
    names.map((name) => ({ identifier: `openai-compatible/${name}`, name, contextWindow, sees: false })),
  )

async function offeredOf({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `select name from models where provider = 'OpenAI-compatible' and is_visible and coalesce(is_offered, true) order by name`,
  )
  return rows.map(({ name }) => name)
}

test('of the new models, the default that the environment names is offered in any case', async () => {
  const db = await temporaryDatabase()
  await db.database.asService(async (scope) => {
    await list(scope, ['lamp', 'stove'])
    await storeChoices(scope, COMPATIBLE, { ...UNDECIDED, offersNew: false, defaultModel: 'stove' })
  })
  expect(await offeredOf(db)).toEqual(['stove'])
  const { rows } = await db.admin.query('select name from models where is_default')
  expect(rows).toEqual([{ name: 'stove' }])
})

test('Alcove Reader that is withdrawn answers only while no other model can', async () => {
  const db = await temporaryDatabase()
  const reader = async () => {
    const person = await db.createPerson()
    const { rows } = await db.database.asUser(person, (scope) =>
      scope.query(`select is_default from models where model_identifier = 'alcove-reader'`),
    )
    return rows
  }
  const store = (names: readonly string[]) =>
    db.database.asService(async (scope) => {
      await list(scope, names)
      await storeChoices(scope, COMPATIBLE, UNDECIDED)
    })
  await db.admin.query(`update models set is_offered = false where model_identifier = 'alcove-reader'`)
  await store(['lamp'])
  expect(await reader()).toEqual([])
  await store([])
  expect(await reader()).toEqual([{ is_default: true }])
  await store(['lamp'])
  expect(await reader()).toEqual([])
})

test('an upgrade leaves offered what an installation with accounts has offered', async () => {
  const upgrade = async (isUsed: boolean) => {
    const old = await databaseBefore('0090')
    await old.database.asService((scope) => list(scope, ['lamp']))
    if (isUsed) await old.createPerson()
    await migrate(old.adminConnection, { authenticatorPassword: null })
    await old.database.asService(async (scope) => {
      await list(scope, ['lamp', 'stove'])
      await storeChoices(scope, COMPATIBLE, { ...UNDECIDED, offersNew: false })
    })
    return offeredOf(old)
  }
  expect(await upgrade(true)).toEqual(['lamp'])
  expect(await upgrade(false)).toEqual([])
})

test('a server that lists models waits for one that stores choices before it changes any model', async () => {
  const db = await temporaryDatabase()
  const { origin } = await serveLoopback((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ data: [{ id: 'lamp', context_length: 32_000 }] }))
  })
  await db.database.asService((scope) => list(scope, ['lamp']))
  const other = await db.admin.connect()
  try {
    await other.query('begin')
    await other.query(`select pg_advisory_xact_lock(hashtextextended('offered models', 0))`)
    const refreshed = refreshModels({
      database: db.database,
      settings: {
        anthropic: none,
        openai: none,
        compatible: { apiKey: undefined, baseUrl: `${origin}/v1` },
        idleTimeoutMs: 1_000,
      },
      readChoices: () => Promise.resolve(UNDECIDED),
      log: createLog('silent'),
    })
    await vi.waitFor(async () => {
      const { rows } = await db.admin.query(
        `select from pg_locks where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      )
      expect(rows).toHaveLength(1)
    })
    // Were the row changed already, both would wait for each other.
    await other.query(`select from models where model_identifier = 'openai-compatible/lamp' for update nowait`)
    await other.query('commit')
    expect(await refreshed).toBe(true)
  } finally {
    other.release()
  }
  const { rows } = await db.admin.query(`select context_window from models where name = 'lamp'`)
  expect(rows).toEqual([{ context_window: 32_000 }])
})
