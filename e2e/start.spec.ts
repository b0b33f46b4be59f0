/** Starting and stopping: first start, start after every kind of kill, and refusal with one sentence. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { isRunning } from '#server/base/process-state.ts'
import { type AlcoveProcess, createDataDir, startAlcove, startRefusing } from '#test/alcove.ts'
import { ADOPTS_AND_NEVER_REAPS, canAdopt, waitForZombie } from '#test/unreaped-process.ts'

const run = promisify(execFile)
const root = path.dirname(import.meta.dirname)
let folder: Awaited<ReturnType<typeof createDataDir>>
let alcove: AlcoveProcess

beforeAll(async () => {
  folder = await createDataDir()
  alcove = await startAlcove({ DATA_DIR: folder.dataDir })
})
afterAll(async () => {
  await alcove.end()
  await folder.remove()
})

const start = () => startAlcove({ DATA_DIR: folder.dataDir })
const postmaster = async () =>
  Number((await readFile(path.join(folder.dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])

async function waitUntilGone(pid: number): Promise<void> {
  // Only the process id of a foreign process can be observed.
  while (await isRunning(pid)) await delay(10)
}

test('the first start makes secrets that only their owner may read, and no default ones', async () => {
  const secrets = path.join(folder.dataDir, 'secrets.json')
  expect((await stat(secrets)).mode & 0o777).toBe(0o600)
  const { testAccount } = await alcove.config()
  expect(testAccount?.password.length).toBeGreaterThan(15)
  const other = await createDataDir()
  const second = await startAlcove({ DATA_DIR: other.dataDir })
  expect((await second.config()).testAccount?.password).not.toBe(testAccount?.password)
  await second.end()
  await other.remove()
})

test('answers 200 once it is ready, and says who it is on one line', async () => {
  expect((await fetch(`${alcove.url}/healthz`)).status).toBe(200)
  expect(
    alcove
      .output()
      .split('\n')
      .filter((line) => line.includes('http://')),
  ).toHaveLength(1)
  expect((await fetch(`${alcove.url}/metrics`)).status).toBe(200)
})

test.for(['SIGTERM', 'SIGINT'] as const)('%s drains, stops PostgreSQL in order and exits with 0', async (signal) => {
  const database = await postmaster()
  const startedAt = performance.now()
  expect(await alcove.end(signal)).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(10_000)
  expect(await isRunning(database)).toBe(false)
  expect(await readFile(path.join(folder.dataDir, 'postgres.log'), 'utf8')).toContain('database system is shut down')
  alcove = await start()
})

test('starts again after it was killed and its PostgreSQL lives on', async () => {
  const orphan = await postmaster()
  await alcove.end('SIGKILL')
  expect(await isRunning(orphan)).toBe(true)
  alcove = await start()
  expect(await postmaster()).not.toBe(orphan)
  expect(await isRunning(orphan)).toBe(false)
})

test('starts again after it and its PostgreSQL were killed', async () => {
  const database = await postmaster()
  process.kill(database, 'SIGKILL')
  await alcove.end('SIGKILL')
  await waitUntilGone(database)
  alcove = await start()
  expect((await fetch(`${alcove.url}/healthz`)).status).toBe(200)
})

test('starts again where the number in a stale pid file belongs to another program by now', async () => {
  await alcove.end('SIGKILL')
  const database = await postmaster()
  process.kill(database, 'SIGKILL')
  await waitUntilGone(database)
  const file = path.join(folder.dataDir, 'postgres', 'postmaster.pid')
  await writeFile(file, (await readFile(file, 'utf8')).replace(/^\d+/, String(process.pid)))
  alcove = await start()
  expect(await isRunning(process.pid)).toBe(true)
})

test.runIf(canAdopt)('starts again where the killed server and its PostgreSQL stay listed as zombies', async () => {
  const other = await createDataDir()
  const environment = { DATA_DIR: other.dataDir }
  const firstStartAt = performance.now()
  const parent = await startAlcove(environment, { under: ADOPTS_AND_NEVER_REAPS })
  const firstStartMs = performance.now() - firstStartAt
  const pidIn = async (...file: string[]) =>
    Number.parseInt(await readFile(path.join(other.dataDir, ...file), 'utf8'), 10)
  const killed = await pidIn('server.pid')
  const orphan = await pidIn('postgres', 'postmaster.pid')
  process.kill(killed, 'SIGKILL')
  await waitForZombie(killed)
  const startedAt = performance.now()
  const second = await startAlcove(environment)
  // A zombie counted as running would cost 8 s for each of three signals to PostgreSQL.
  expect(performance.now() - startedAt).toBeLessThan(firstStartMs + 20_000)
  expect([await isRunning(killed), await isRunning(orphan)]).toEqual([false, false])
  for (const pid of [killed, orphan]) expect(() => process.kill(pid, 0)).not.toThrow()
  await second.end()
  await parent.end('SIGKILL')
  await other.remove()
})

test('starts over where the creation of the database was cut off', async () => {
  const other = await createDataDir()
  await mkdir(path.join(other.dataDir, 'postgres.unfinished', 'base'), { recursive: true })
  const second = await startAlcove({ DATA_DIR: other.dataDir })
  expect((await readdir(other.dataDir)).filter((name) => name.includes('unfinished'))).toEqual([])
  await second.end()
  await other.remove()
})

test('ends with an error when its PostgreSQL dies', async () => {
  const database = await postmaster()
  process.kill(database, 'SIGKILL')
  await expect.poll(() => alcove.output()).toContain('PostgreSQL ended unexpectedly')
  expect(await alcove.end()).toBe(1)
  alcove = await start()
})

test('refuses a port that is taken', async () => {
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  const address = occupant.address()
  const port = typeof address === 'object' && address ? String(address.port) : ''
  const other = await createDataDir()
  const { code, output } = await startRefusing({ DATA_DIR: other.dataDir, PORT: port })
  expect(output).toBe(
    `PORT is "${port}", but another program already listens there. Stop it, or choose another port.\n`,
  )
  expect(code).toBe(1)
  occupant.close()
  await other.remove()
})

test('refuses a data folder that another server is using', async () => {
  const { code, output } = await startRefusing({ DATA_DIR: folder.dataDir })
  expect(output).toMatch(/^DATA_DIR ".*" is in use by another Alcove \(process \d+\)\. .*\n$/)
  expect(code).toBe(1)
  expect((await fetch(`${alcove.url}/healthz`)).status).toBe(200)
})

test.for([
  [
    { DATA_DIR: '/dev/null/alcove' },
    /^DATA_DIR is "\/dev\/null\/alcove", but it wants a folder that this user may write to/,
  ],
  [{ PORT: 'http' }, /^PORT is "http", but it wants a port number from 0 to 65535\.$/],
  [{ RATE_LIMITS: 'off', HOST: '0.0.0.0' }, /^RATE_LIMITS is "off", but it wants on unless HOST is loopback/],
  [{ DATABASE_URL: 'postgres://localhost/x' }, /^ALCOVE_SECRET is not set, but DATABASE_URL wants it/],
  [
    { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x', ALCOVE_SECRET: 's'.repeat(32) },
    /^DATABASE_URL names a database that cannot be connected to/,
  ],
] as const)('refuses %o with one sentence', async ([environment, sentence]) => {
  const other = await createDataDir()
  const { code, output } = await startRefusing({ DATA_DIR: other.dataDir, ...environment })
  expect(output.trimEnd()).toMatch(sentence)
  expect(output.trimEnd().split('\n')).toHaveLength(1)
  expect(code).toBe(1)
  await other.remove()
})

test('shares a database with DATABASE_URL, and refuses a wrong secret and a newer database', async () => {
  const { host, user, password, authenticatorPassword, secret } = inject('postgres')
  const admin = new pg.Client({ host, user, password, database: 'postgres' })
  await admin.connect()
  await admin.query('create database shared')
  const other = await createDataDir()
  const environment = {
    DATA_DIR: other.dataDir,
    DATABASE_URL: `postgres://${user}:${password}@localhost/shared?host=${encodeURIComponent(host)}`,
    ALCOVE_SECRET: secret,
  }
  const nodes = await Promise.all([startAlcove(environment), startAlcove(environment)])
  const keys = await Promise.all(
    nodes.map(async (node) => (await fetch(`${node.url}/auth/v1/.well-known/jwks.json`)).text()),
  )
  expect(keys[0]).toEqual(keys[1])
  expect((await nodes[0].config()).testAccount).toBeNull()
  expect(await Promise.all(nodes.map((node) => node.end()))).toEqual([0, 0])

  const wrong = await startRefusing({ ...environment, ALCOVE_SECRET: 'another secret, which is just as long' })
  expect(wrong.output).toBe('ALCOVE_SECRET is not the one that the keys in this database were wrapped with.\n')
  const node = new pg.Client({ host, user: 'authenticator', password: authenticatorPassword, database: 'shared' })
  await node.connect()
  await node.end()
  const shared = new pg.Client({ host, user, password, database: 'shared' })
  await shared.connect()
  await shared.query(`insert into alcove_migrations.applied (name, checksum) values ('product/9999_future.sql', 'x')`)
  await shared.end()
  const newer = await startRefusing(environment)
  expect(newer.output).toMatch(/^The database is newer than this Alcove/)
  expect([wrong.code, newer.code]).toEqual([1, 1])
  await admin.query('drop database shared with (force)')
  await admin.end()
  await other.remove()
})

describe.runIf(process.getuid?.() === 0)('as root', () => {
  test('starts with a data folder below a folder that others may not enter', async () => {
    const other = await createDataDir()
    await chmod(path.dirname(other.dataDir), 0o700)
    const closed = await startAlcove({ DATA_DIR: other.dataDir })
    expect((await fetch(`${closed.url}/healthz`)).status).toBe(200)
    await closed.end()
    await rm(other.dataDir, { recursive: true })
    await other.remove()
  })

  test('starts from a checkout below such a folder, and lends PostgreSQL one capability', async () => {
    // On the file system of the packages, because it hard-links their files.
    const folder = await mkdtemp(path.join(root, 'dist', 'closed-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    const checkout = path.join(folder, 'alcove')
    for (const part of ['dist', 'node_modules']) await mkdir(path.join(checkout, part), { recursive: true })
    const link = (to: string, ...names: readonly string[]) =>
      run('cp', ['-al', ...names, path.join(checkout, to)], { cwd: root })
    await link('.', 'contract', 'package.json', 'scripts', 'server')
    await link('dist', 'dist/web', 'dist/parsers')
    const packages = (await readdir(path.join(root, 'node_modules'))).filter((name) => name !== '.cache')
    await link('node_modules', ...packages.map((name) => path.join('node_modules', name)))
    const closed = await startAlcove({ DATA_DIR: path.join(checkout, '.data') }, { checkout })
    expect((await fetch(closed.url)).status).toBe(200)
    const database = Number.parseInt(
      await readFile(path.join(checkout, '.data', 'postgres', 'postmaster.pid'), 'utf8'),
      10,
    )
    const status = await readFile(`/proc/${database}/status`, 'utf8')
    const DAC_READ_SEARCH = '0000000000000004'
    for (const set of ['CapPrm', 'CapEff', 'CapAmb']) expect(status).toContain(`${set}:\t${DAC_READ_SEARCH}\n`)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    expect(status).not.toMatch(/^Uid:.*\b0\b/m)
    expect(await closed.end()).toBe(0)
  })
})
