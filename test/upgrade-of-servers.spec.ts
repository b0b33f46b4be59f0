/** Several servers of one database: a later version changes it only once those of the version before have stopped. */
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Environment, startAlcove, startRefusing } from './alcove.ts'
import { createEmptyDatabase } from './database.ts'
import { copyStartedDataDir } from './started-data.ts'

const STILL_RUNS =
  /^The database has to be changed for this version of Alcove, but a server of an earlier version still runs on it: stop every server of this database, then start this one\. Nothing was changed\.$/m
const MIGRATION = 'product/0047_limits_of_settings.sql'
const LATER = 'product/9999_later.sql'
/** Makes the database that of the version before. */
const BEFORE = `
  drop function tg_own_providers__limit, tg_tool_servers__limit, tg_user_settings__limit, tg_tool_consents__limit cascade;
  delete from alcove_migrations.applied where name = '${MIGRATION}'`
const LISTENING = `from pg_stat_activity where application_name = 'alcove listener' and datname = current_database()`

async function openPlace() {
  const { admin, environment } = await createEmptyDatabase()
  onTestFinished(() => admin.end())
  const start = async (changes: Environment = {}) => {
    const folder = await copyStartedDataDir()
    onTestFinished(folder.remove)
    return { ...environment, DATA_DIR: folder.dataDir, ...changes }
  }
  const isChanged = async (migration = MIGRATION) =>
    (await admin.query('select from alcove_migrations.applied where name = $1', [migration])).rowCount === 1
  const listening = async () =>
    Number((await admin.query<{ count: string }>(`select count(*) ${LISTENING}`)).rows[0]?.count)
  return { admin, environmentOf: start, isChanged, listening }
}

/** A version with one more migration than this one. */
async function makeLaterVersion(): Promise<{ readonly checkout: string }> {
  const checkout = await mkdtemp(path.join(tmpdir(), 'alcove-later-'))
  onTestFinished(() => rm(checkout, { recursive: true, force: true }))
  const root = path.join(import.meta.dirname, '..')
  for (const name of ['server', 'contract', 'package.json'])
    await cp(path.join(root, name), path.join(checkout, name), { recursive: true })
  for (const name of ['node_modules', 'dist']) await symlink(path.join(root, name), path.join(checkout, name))
  await writeFile(path.join(checkout, 'server/database/migrations', LATER), 'create table later (id bigint);')
  return { checkout }
}

test(
  'a later version refuses while an earlier one runs, and starts once it has ended or was killed',
  { timeout: 240_000 },
  async () => {
    const { environmentOf, isChanged, listening } = await openPlace()
    const laterVersion = await makeLaterVersion()
    const earlier = await startAlcove(await environmentOf())
    onTestFinished(async () => {
      await earlier.end('SIGKILL')
    })
    // Any number of servers of the same version start.
    const second = await startAlcove(await environmentOf())
    expect(await second.end()).toBe(0)

    const refused = await startRefusing(await environmentOf(), laterVersion)
    expect(refused.code).toBe(1)
    expect(refused.output).toMatch(STILL_RUNS)
    expect(await isChanged(LATER)).toBe(false)
    expect((await fetch(`${earlier.url}/healthz`)).status).toBe(200)

    await earlier.end('SIGKILL')
    const later = await startAlcove(await environmentOf(), laterVersion)
    onTestFinished(async () => {
      await later.end()
    })
    expect(await isChanged(LATER)).toBe(true)
    expect(later.output()).toContain(LATER)
    expect(await listening()).toBe(1)

    // From then on an earlier version refuses.
    const older = await startRefusing(await environmentOf())
    expect(older).toMatchObject({ code: 1 })
    expect(older.output).toContain('Start the newer version instead; nothing was changed.')
  },
)

test(
  'a later version does not start while one part of an earlier one runs that its change does not concern',
  { timeout: 240_000 },
  async () => {
    const { environmentOf, isChanged } = await openPlace()
    const product = await startAlcove(await environmentOf())
    expect(await product.end()).toBe(0)
    const services = await startAlcove(await environmentOf({ ALCOVE_PARTS: 'services' }))
    onTestFinished(async () => {
      await services.end()
    })
    const refused = await startRefusing(await environmentOf({ ALCOVE_PARTS: 'api,workers' }), await makeLaterVersion())
    expect(refused.output).toMatch(STILL_RUNS)
    expect(await isChanged(LATER)).toBe(false)
  },
)

test.for(['an empty database', 'one that is behind'])(
  'servers of one version with different parts start one after the other on %s',
  { timeout: 240_000 },
  async (state) => {
    const { admin, environmentOf, isChanged, listening } = await openPlace()
    if (state === 'one that is behind') {
      const made = await startAlcove(await environmentOf())
      expect(await made.end()).toBe(0)
      await admin.query(BEFORE)
    }
    const services = await startAlcove(await environmentOf({ ALCOVE_PARTS: 'services' }))
    onTestFinished(async () => {
      await services.end()
    })
    expect(await isChanged()).toBe(false)
    const product = await startAlcove(await environmentOf({ ALCOVE_PARTS: 'api,workers' }))
    onTestFinished(async () => {
      await product.end()
    })
    expect(await isChanged()).toBe(true)
    expect(await listening()).toBe(2)
    for (const { url } of [services, product]) expect((await fetch(`${url}/healthz`)).status).toBe(200)
  },
)

test(
  'a server of a version without announcements is seen by its listening connection',
  { timeout: 120_000 },
  async () => {
    const { admin, environmentOf, isChanged } = await openPlace()
    const made = await startAlcove(await environmentOf())
    expect(await made.end()).toBe(0)
    await admin.query(BEFORE)
    const old = await admin.connect()
    onTestFinished(() => old.release(true))
    await old.query(`set application_name = 'alcove listener'`)
    const refused = await startRefusing(await environmentOf())
    expect(refused.code).toBe(1)
    expect(refused.output).toMatch(STILL_RUNS)
    expect(await isChanged()).toBe(false)
  },
)

test('servers that start together change the database once', { timeout: 120_000 }, async () => {
  const { admin, environmentOf, isChanged } = await openPlace()
  const made = await startAlcove(await environmentOf())
  expect(await made.end()).toBe(0)
  await admin.query(BEFORE)
  const environments = [await environmentOf(), await environmentOf(), await environmentOf()]
  const servers = await Promise.all(environments.map((environment) => startAlcove(environment)))
  onTestFinished(async () => {
    for (const server of servers) await server.end()
  })
  expect(servers.filter((server) => server.output().includes(MIGRATION))).toHaveLength(1)
  expect(await isChanged()).toBe(true)
})

test(
  'a server that lost its connection while a later version changed the database ends and says why',
  { timeout: 120_000 },
  async () => {
    const { admin, environmentOf } = await openPlace()
    const earlier = await startAlcove(await environmentOf())
    onTestFinished(async () => {
      await earlier.end('SIGKILL')
    })
    await admin.query(`insert into alcove_migrations.applied (name, checksum) values ('product/9999_later.sql', 'x')`)
    await admin.query(`select pg_terminate_backend(pid) ${LISTENING}`)
    await earlier.printed('The database is newer than this Alcove')
    // It stops by itself, which a signal does not change.
    expect(await earlier.end()).toBe(1)
  },
)
