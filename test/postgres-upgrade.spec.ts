/** A data folder of an older major version of PostgreSQL, taken over at the start, also where that is killed. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { onClient } from '#server/backup/load-database.ts'
import { createLog } from '#server/base/log.ts'
import { clusterIn, upgradingOf } from '#server/database/cluster-folders.ts'
import { connectToRunning, stopOrphan } from '#server/database/embedded.ts'
import { JOBS_SCHEMA_VERSION } from '#server/jobs/install.ts'
import { type AlcoveProcess, createDataDir, startAlcove, startAndKill, startRefusing } from './alcove.ts'
import { isOlderInstalled, makeOlderFolder, OLDER_MAJOR, onOlderCluster } from './older-postgres.ts'
import { openClient, readRelease, type Release, see, visitorOf } from './release.ts'
import { createRandom } from './fuzz/random.ts'

const execFileAsync = promisify(execFile)

const RELEASE = '0.1.0'
const BEGINS = 'taking the database over'
const ENDS = 'the database is taken over'

let template: string
let release: Release

describe.runIf(isOlderInstalled)(`a folder of PostgreSQL ${OLDER_MAJOR}`, () => {
  beforeAll(async () => {
    const { dataDir, remove } = await createDataDir()
    template = dataDir
    await makeOlderFolder(RELEASE, dataDir)
    release = await readRelease(RELEASE)
    return remove
  })

  async function copyOlderFolder(): Promise<string> {
    const { dataDir, remove } = await createDataDir()
    onTestFinished(remove)
    // A server that was killed leaves its PostgreSQL behind.
    for (const folder of [clusterIn(dataDir), upgradingOf(clusterIn(dataDir))])
      onTestFinished(() => stopOrphan(folder, createLog('warn')))
    await execFileAsync('cp', ['-a', template, dataDir])
    return dataDir
  }

  async function start(dataDir: string): Promise<AlcoveProcess> {
    const alcove = await startAlcove({ DATA_DIR: dataDir })
    onTestFinished(async () => {
      await alcove.end()
    })
    return alcove
  }

  const readMajor = async (dataDir: string, name = 'postgres') =>
    (await readFile(path.join(dataDir, name, 'PG_VERSION'), 'utf8')).trim()

  const listClusters = async (dataDir: string) =>
    (await readdir(dataDir)).filter((name) => name.startsWith('postgres') && !name.includes('log')).sort()

  async function expectEverything(alcove: AlcoveProcess): Promise<void> {
    for (const { email, password, refreshToken: _token, ...seen } of release.people) {
      const client = await openClient(alcove)
      const { data, error } = await client.auth.signInWithPassword({ email, password })
      expect(error).toBeNull()
      expect(await see(alcove, visitorOf(client, data.session), seen.object)).toEqual({ ...seen })
    }
  }

  test(
    'everything is there, and the start after one that succeeded removes the former database',
    { timeout: 120_000 },
    async () => {
      const dataDir = await copyOlderFolder()
      expect(await readMajor(dataDir)).toBe(OLDER_MAJOR)
      const alcove = await start(dataDir)
      await expectEverything(alcove)
      const current = await readMajor(dataDir)
      expect(Number(current)).toBeGreaterThan(Number(OLDER_MAJOR))
      const former = `postgres.before-${current}`
      expect(await listClusters(dataDir)).toEqual(['postgres', former])
      expect(await readMajor(dataDir, former)).toBe(OLDER_MAJOR)
      expect(alcove.output()).toContain(BEGINS)
      await alcove.end()

      const again = await start(dataDir)
      await again.printed('removed the database from before the upgrade')
      expect(again.output()).not.toContain(BEGINS)
      expect(await listClusters(dataDir)).toEqual(['postgres'])
      await expectEverything(again)
    },
  )

  test('a start that fails after the exchange leaves the former database', { timeout: 120_000 }, async () => {
    const dataDir = await copyOlderFolder()
    await startAndKill({ DATA_DIR: dataDir }, ENDS)
    const former = path.join(dataDir, `postgres.before-${await readMajor(dataDir)}`)
    const failed = await startRefusing({ DATA_DIR: dataDir, EMBEDDINGS_PATH: path.join(dataDir, 'missing') })
    expect(failed.code).toBe(1)
    const succeeded = await start(dataDir)
    await succeeded.end()
    expect(existsSync(former)).toBe(true)
    const again = await start(dataDir)
    await again.printed('removed the database from before the upgrade')
    expect(existsSync(former)).toBe(false)
  })

  test('what would be lost is named, and nothing is changed', { timeout: 180_000 }, async () => {
    const dataDir = await copyOlderFolder()
    const change = (sql: string) => onOlderCluster(dataDir, (admin) => onClient(admin, (client) => client.query(sql)))
    const refusal = async () => (await startRefusing({ DATA_DIR: dataDir })).output

    await change(`alter role anon set statement_timeout = 4711;
      select lo_create(4711);
      create function noted() returns event_trigger language plpgsql as 'begin end';
      create event trigger noting on ddl_command_end execute function noted();
      create materialized view counted as select 1 as one;
      create aggregate product (bigint) (sfunc = int8mul, stype = bigint);
      create table parent (id int);
      create table child () inherits (parent)`)
    const named = await refusal()
    for (const name of [
      'setting statement_timeout of role anon',
      'large object 4711',
      'event trigger noting',
      'materialized view public.counted',
      'function public.product(bigint)',
      'inheritance of table public.child from public.parent',
    ])
      expect(named).toContain(name)

    await change(`alter role anon reset statement_timeout;
      select lo_unlink(4711);
      drop event trigger noting;
      drop materialized view counted;
      drop aggregate product (bigint);
      drop table parent cascade;
      alter table public.documents add column shelf text`)
    expect(await refusal()).toContain('This would be lost: create table public.documents')

    await change('alter table public.documents drop column shelf; revoke select on public.documents from authenticated')
    expect(await refusal()).toMatch(
      /changed or removed, and would come back: grant .* on table public\.documents to authenticated/,
    )
    expect(await listClusters(dataDir)).toEqual(['postgres'])
  })

  test('the schema of another version of the job library is not taken over', { timeout: 120_000 }, async () => {
    const dataDir = await copyOlderFolder()
    await onOlderCluster(dataDir, (admin) =>
      onClient(admin, (client) =>
        client.query(`update pgboss.version set version = version - 1;
          create table pgboss.former (id int);
          create function pgboss.former() returns int language sql return 1`),
      ),
    )
    const alcove = await start(dataDir)
    const { databasePassword } = await loadSecretsFromFolder(dataDir)
    const { rows } = await onClient(await connectToRunning(dataDir, databasePassword), (client) =>
      client.query(`select version, to_regclass('pgboss.former') as "table", to_regproc('pgboss.former') as function
        from pgboss.version`),
    )
    expect(rows).toEqual([{ version: JOBS_SCHEMA_VERSION, table: null, function: null }])
    await expectEverything(alcove)
  })

  const KILLS = Number(process.env['UPGRADE_KILLS'] ?? 6)
  const SEED = 20_261_128

  test(`killed at ${KILLS} random moments, it is done by the start after`, { timeout: 240_000 }, async () => {
    const measured = await startAndKill({ DATA_DIR: await copyOlderFolder() }, ENDS)
    const timeOf = (text: string) => Date.parse(new RegExp(`"time":"([^"]+)".*${text}`).exec(measured)?.[1] ?? '')
    const duration = timeOf(ENDS) - timeOf(BEGINS)
    expect(duration).toBeGreaterThan(0)

    const random = createRandom(SEED)
    let dataDir = await copyOlderFolder()
    for (let kill = 0; kill < KILLS; kill += 1) {
      await startAndKill({ DATA_DIR: dataDir }, BEGINS, random.int(duration))
      // Between two renames of the exchange there is none.
      if ((await readMajor(dataDir).catch(() => undefined)) === OLDER_MAJOR) continue
      // The exchange has happened: the database is whole, and the next kills need another one.
      const alcove = await start(dataDir)
      await expectEverything(alcove)
      await alcove.end()
      dataDir = await copyOlderFolder()
    }
    const alcove = await start(dataDir)
    await expectEverything(alcove)
    expect(await listClusters(dataDir)).toHaveLength(2)
  })

  test('an exchange that is cut off between its steps is ended or begun again', { timeout: 120_000 }, async () => {
    const dataDir = await copyOlderFolder()
    const inside = (name: string) => path.join(dataDir, name)
    // A complete new database, whose old one may have been used since: it is made again.
    await cp(inside('postgres'), inside('postgres.upgraded'), { recursive: true })
    await mkdir(inside('postgres.upgrading'))
    await writeFile(inside('postgres.upgrading/PG_VERSION'), 'half')
    const alcove = await start(dataDir)
    await expectEverything(alcove)
    await alcove.end()
    const current = await readMajor(dataDir)
    expect(await listClusters(dataDir)).toEqual(['postgres', `postgres.before-${current}`])

    // The old one has been renamed, the new one not yet.
    await rename(inside('postgres'), inside('postgres.upgraded'))
    const ended = await start(dataDir)
    expect(ended.output()).not.toContain(BEGINS)
    await expectEverything(ended)
    // It is the first start of the new one.
    expect(await listClusters(dataDir)).toEqual(['postgres', `postgres.before-${current}`])
  })

  test(
    'without room, or with another database next to it, it is refused and nothing is changed',
    { timeout: 120_000 },
    async () => {
      const dataDir = await copyOlderFolder()
      const backup = execFileAsync(
        process.execPath,
        ['scripts/backup.ts', path.join(path.dirname(dataDir), 'backups')],
        {
          cwd: path.join(import.meta.dirname, '..'),
          env: { ...process.env, DATA_DIR: dataDir },
        },
      )
      await expect(backup).rejects.toMatchObject({
        stderr: expect.stringContaining('start the server once, which takes it over, then run this again') as unknown,
      })
      const full = await startRefusing({ DATA_DIR: dataDir, DISK_MARGIN_MB: '900000000' })
      expect(full.code).toBe(1)
      expect(full.output).toMatch(
        new RegExp(
          `The database cannot be taken over from PostgreSQL ${OLDER_MAJOR} to \\d+: that needs [\\d,]+ MB of room on the disk of "${RegExp.escape(dataDir)}", and [\\d,]+ MB are free\\.`,
        ),
      )

      const former = path.join(dataDir, `postgres.before-${/to (\d+):/.exec(full.output)?.[1] ?? ''}`)
      await mkdir(former)
      expect((await startRefusing({ DATA_DIR: dataDir })).output).toContain(
        `"${former}" holds a database from before an earlier upgrade: run mv ${former} `,
      )
      await rm(former, { recursive: true })

      await onOlderCluster(dataDir, async (admin) => {
        const client = new pg.Client(admin)
        await client.connect()
        await client.query('create database "of somebody"')
        await client.end()
      })
      const refused = await startRefusing({ DATA_DIR: dataDir })
      expect(refused.code).toBe(1)
      expect(refused.output).toContain('The database "of somebody" next to it would be left behind')

      await onOlderCluster(dataDir, async (admin) => {
        const client = new pg.Client(admin)
        await client.connect()
        await client.query('drop database "of somebody"')
        await client.query('create role reporter')
        await client.query('create table notes (note text); grant select on notes to reporter')
        await client.query(`comment on role reporter is 'Reads'; comment on database alcove is 'Ours'`)
        await client.query(`alter role anon password 'of its own'; alter role service_role valid until '2099-01-01'`)
        await client.query(`grant anon to authenticator with admin option`)
        await client.end()
      })
      const lost = await startRefusing({ DATA_DIR: dataDir })
      expect(lost.output).toContain(
        'This would be left behind: comment on database alcove, comment on role reporter, membership of role authenticator in role anon, role anon, role reporter, role service_role. Nothing',
      )
      expect(await readMajor(dataDir)).toBe(OLDER_MAJOR)
      expect(await listClusters(dataDir)).toEqual(['postgres'])
      expect(existsSync(path.join(dataDir, 'server.pid'))).toBe(false)
    },
  )
})
