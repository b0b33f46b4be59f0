import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { codeOf } from '#server/base/errors.ts'
import { type EmbeddedPostgres, startEmbedded } from './embedded.ts'
import { openPostgresLog, rotatePostgresLog } from './postgres-log.ts'

const SECRET = 'a-letter-to-nobody-else'
const OLD_LINE = `2026-01-01 10:00:00.000 UTC [7] ERROR:  invalid input syntax for type uuid: "${SECRET}"\n`

let dataDir: string
let database: EmbeddedPostgres
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-log-'))
  await chmod(dataDir, 0o711)
  await writeFile(path.join(dataDir, 'postgres.log'), OLD_LINE)
  database = await startEmbedded(dataDir, 'postgres-of-this-test', createLog('silent'))
})
afterAll(async () => {
  await database.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const readLog = () => readFile(path.join(dataDir, 'postgres.log'), 'utf8')

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(database.admin)
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function failingCode(client: pg.Client, sql: string, values: unknown[] = []): Promise<string | undefined> {
  return client.query(sql, values).then(
    () => 'it worked',
    (error: unknown) => codeOf(error),
  )
}

test('what an older version logged is gone after the start', async () => {
  expect(await readLog()).toContain('database system is ready to accept connections')
  expect(await readLog()).not.toContain(SECRET)
})

test('an error of a statement is logged nowhere, however large its value', async () => {
  const client = await connect()
  const before = (await stat(path.join(dataDir, 'postgres.log'))).size
  const large = `${SECRET}${'x'.repeat(900_000)}`
  await client.query(`set log_min_duration_statement = 0`)
  await client.query(`reset log_min_duration_statement`)
  await client.query('create table notes (id int primary key, body text check (length(body) < 9))')
  expect(await failingCode(client, 'select $1::uuid', [large])).toBe('22P02')
  expect(await failingCode(client, 'insert into notes values (1, $1)', [large])).toBe('23514')
  expect(await failingCode(client, `do $$ begin raise exception '${SECRET}'; end $$`)).toBe('P0001')
  expect(await failingCode(client, `do $$ begin raise warning '${SECRET}'; end $$`)).toBe('it worked')
  expect(await failingCode(client, `select ${SECRET.replaceAll('-', '_')} from`)).toBe('42601')
  expect(await failingCode(client, `select '${SECRET}' ~ '${SECRET}('`)).toBe('2201B')
  await client.query(`set statement_timeout = 1`)
  expect(await failingCode(client, `select pg_sleep(9), $1::text`, [SECRET])).toBe('57014')
  await client.end()
  const log = await readLog()
  expect(log).not.toContain(SECRET)
  expect(log).not.toContain(SECRET.replaceAll('-', '_'))
  // Only the two changes of a setting before the errors may be logged.
  expect(log.length - before).toBeLessThan(2_000)
})

test('a process of the database that dies is logged without its statement', async () => {
  const [client, watcher] = [await connect(), await connect()]
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const running = failingCode(client, `select pg_sleep(600), '${SECRET}'`)
  await expect
    .poll(
      async () =>
        (await watcher.query(`select from pg_stat_activity where query like '%${SECRET}%' and wait_event = 'PgSleep'`))
          .rowCount,
    ) // prettier-ignore
    .toBe(1)
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL')
  await running
  await expect.poll(readLog).toMatch(/was terminated by signal 9/)
  expect(await readLog()).not.toContain(SECRET)
  for (const one of [client, watcher]) await one.end().catch(() => undefined)
  await expect.poll(() => connect().then((again) => again.end().then(() => true), () => false)).toBe(true) // prettier-ignore
})

test('a full log is moved to one older file, and PostgreSQL goes on with the emptied one', async () => {
  const whole = await readLog()
  await rotatePostgresLog(dataDir, whole.length)
  expect(await readLog()).toBe(whole)
  await rotatePostgresLog(dataDir, 10)
  expect(await readFile(path.join(dataDir, 'postgres.log.1'), 'utf8')).toBe(whole)
  expect((await stat(path.join(dataDir, 'postgres.log.1'))).mode & 0o777).toBe(0o600)
  expect(await readLog()).toBe('')
  const client = await connect()
  await client.query('select pg_reload_conf()')
  await client.end()
  await expect.poll(readLog).toMatch(/^\d{4}-.* LOG: {2}received SIGHUP/)
})

test('the log is opened for appending, and not through a link', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-log-'))
  const other = path.join(folder, 'other')
  await writeFile(other, 'kept')
  await symlink(other, path.join(folder, 'postgres.log'))
  await expect(openPostgresLog(folder)).rejects.toThrow('ELOOP')
  expect(await readFile(other, 'utf8')).toBe('kept')
  await rm(folder, { recursive: true })
})
