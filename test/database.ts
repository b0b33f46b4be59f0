/** A database for one test file, copied from the migrated template. */
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { createLog } from '#server/base/log.ts'
import type { Nats } from '#server/database/nats.ts'
import { type OpenDatabase, openDatabase } from '#server/database/open-database.ts'
import type { Claims } from '#server/database/scope.ts'
import { openTestBus } from './nats.ts'

export interface TestDatabase extends Omit<OpenDatabase, 'close'> {
  readonly connection: pg.ClientConfig
  /** Superuser connection, which bypasses the policies. */
  readonly admin: pg.Pool
  readonly adminConnection: pg.ClientConfig
  /** Notification bus for a further server of this database; undefined with NOTIFY. */
  readonly openBus: () => Promise<Nats> | undefined
  /** Creates a confirmed account and returns the claims of its access token. */
  createPerson(email?: string): Promise<Claims & { sub: string; role: 'authenticated' }>
  drop(): Promise<void>
}

export async function createTestDatabase(template = inject('postgres').template): Promise<TestDatabase> {
  const { host, user, password, authenticatorPassword } = inject('postgres')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const server = new pg.Client({ host, user, password, database: 'postgres' })
  await server.connect()
  await server.query(`create database ${name} template ${template}`)
  await server.end()
  const adminConnection = { host, user, password, database: name }
  const connection = { host, user: 'authenticator', password: authenticatorPassword, database: name }
  const admin = new pg.Pool({ ...adminConnection, max: 4 })
  admin.on('error', () => undefined)
  const bus = await openTestBus(name)
  const { close, ...opened } = openDatabase(connection, createLog('warn'), bus)

  return {
    ...opened,
    connection,
    admin,
    adminConnection,
    openBus: () => openTestBus(name),
    async createPerson(email = `${randomUUID()}@example.test`) {
      const sub = randomUUID()
      await admin.query(
        `insert into auth.users (id, email, email_confirmed_at, raw_app_meta_data) values ($1, $2, now(), '{"provider":"email","providers":["email"]}')`,
        [sub, email],
      )
      return { sub, email, role: 'authenticated', aud: 'authenticated', aal: 'aal1' }
    },
    async drop() {
      await close()
      await bus?.close()
      await admin.end()
      const dropper = new pg.Client({ host, user, password, database: 'postgres' })
      await dropper.connect()
      await dropper.query(`drop database ${name} with (force)`)
      await dropper.end()
    },
  }
}

/** Like `createTestDatabase`, but dropped at the end of the calling test. */
export async function temporaryDatabase(): Promise<TestDatabase> {
  const created = await createTestDatabase()
  onTestFinished(() => created.drop())
  return created
}

/** The database of an earlier version, dropped at the end of the calling test. `migrate` upgrades it. */
export async function databaseBefore(productMigration: string): Promise<TestDatabase> {
  const created = await createTestDatabase('template0')
  onTestFinished(() => created.drop())
  const { admin } = created
  await admin.query('create schema alcove_migrations')
  await admin.query(
    'create table alcove_migrations.applied (name text primary key, checksum text not null, applied_at timestamptz default now())',
  )
  for (const folder of ['platform', 'product']) {
    const directory = new URL(`../server/database/migrations/${folder}/`, import.meta.url)
    const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
    for (const name of names.filter((name) => folder === 'platform' || name < productMigration)) {
      const sql = await readFile(new URL(name, directory), 'utf8')
      await admin.query(`set local search_path = public; ${sql}`)
      await admin.query('insert into alcove_migrations.applied (name, checksum) values ($1, $2)', [
        `${folder}/${name}`,
        createHash('sha256').update(sql).digest('hex'),
      ])
    }
  }
  return created
}

export interface EmptyDatabase {
  readonly environment: {
    readonly DATABASE_URL: string
    readonly ALCOVE_SECRET: string
    readonly AUTH_AUTOCONFIRM: string
  }
  readonly adminConnection: pg.ClientConfig
  readonly admin: pg.Pool
}

/** Creates a database without tables, for servers that start on it. Its owner ends the pool. */
export async function createEmptyDatabase(): Promise<EmptyDatabase> {
  const { host, user, password, secret } = inject('postgres')
  const database = `served_${randomUUID().replaceAll('-', '')}`
  const server = new pg.Client({ host, user, password, database: 'postgres' })
  await server.connect()
  await server.query(`create database ${database}`)
  await server.end()
  const adminConnection = { host, user, password, database }
  return {
    environment: {
      DATABASE_URL: `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}`,
      ALCOVE_SECRET: secret,
      AUTH_AUTOCONFIRM: 'true',
    },
    adminConnection,
    admin: new pg.Pool(adminConnection),
  }
}
