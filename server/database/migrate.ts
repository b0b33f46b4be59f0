import pg from 'pg'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { type Folder, type Migration, readMigrations, readSql } from './read-migrations.ts'
import { announceServer, NOTICE_DEATH, requireNoOtherVersion } from './servers-lock.ts'

/** Checksums before a rewrite for more databases; a later migration brings older databases to the new schema. */
const FORMER_CHECKSUMS: Readonly<Record<string, string>> = {
  'product/0009_documents_bucket.sql': 'c764f01948c441d45ba2858c780e5dbe3f9caa671b0a7dbcbba1afff1e0535a5',
  'product/0046_quotas.sql': 'd5e62d6942312e85c3fbdd7c45c7122c848be9747925255d76e2026192220eb7',
}

/** Held exclusively while a server reads which migrations are pending, applies them, and announces itself. */
const MIGRATION_LOCK = 7_141_883

export interface MigrateOptions {
  readonly folders?: readonly Folder[]
  readonly authenticatorPassword: string | null
  /** Names of those to apply, as of the backup that is being restored; all of the folders without. */
  readonly only?: ReadonlySet<string>
  /** Says what changes an earlier version's database, since it may take minutes. */
  readonly log?: Log
}

interface AppliedMigration {
  /** With its folder. */
  readonly name: string
  readonly checksum: string
}

function requireKnown(migration: Migration | undefined, { name, checksum }: AppliedMigration, holder: string): void {
  if (!migration) {
    throw new AppError(
      'startup',
      `The ${holder} is newer than this Alcove: it has the migration ${name}. Start the newer version instead; nothing was changed.`,
    )
  }
  if (migration.checksum !== checksum && FORMER_CHECKSUMS[name] !== checksum) {
    throw new AppError(
      'startup',
      `The migration ${name} differs from the one that the ${holder} has applied. Restore the original file; nothing was changed.`,
    )
  }
}

/** @throws AppError `startup` where a backup or database is of a newer Alcove, or of one with other files */
export async function requireKnownMigrations(
  applied: readonly AppliedMigration[],
  holder: 'backup' | 'database',
): Promise<void> {
  const migrations = new Map((await readMigrations()).map((one) => [`${one.folder}/${one.name}`, one]))
  for (const one of applied) requireKnown(migrations.get(one.name), one, holder)
}

async function pendingMigrations(
  client: pg.Client,
  { folders = ['platform', 'product'], only }: Pick<MigrateOptions, 'folders' | 'only'>,
): Promise<readonly Migration[]> {
  const migrations = await readMigrations()
  const known = new Map(migrations.map((migration) => [`${migration.folder}/${migration.name}`, migration]))
  const areWanted = (pending: Iterable<Migration>) =>
    [...pending].filter(({ folder, name }) => folders.includes(folder) && only?.has(`${folder}/${name}`) !== false)
  if (!(await hasMigrations(client))) return areWanted(migrations)
  const applied = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from alcove_migrations.applied',
  )
  for (const { name, checksum } of applied.rows) {
    requireKnown(known.get(name), { name, checksum }, 'database')
    known.delete(name)
  }
  return areWanted(known.values())
}

/** @throws AppError `startup` if the database is newer than the code, or a file was altered */
export async function migrate(connection: pg.ClientConfig, options: MigrateOptions): Promise<void> {
  const client = await connect(connection)
  try {
    if ((await pendingMigrations(client, options)).length === 0) return
    await lockMigrations(client)
    await applyPending(client, options)
  } finally {
    await client.end()
  }
}

/**
 * For a database that several servers share: changes nothing while one of another version runs.
 *
 * @returns what ends the announcement of this server, once its listening connection is open
 * @throws AppError `startup`, as `migrate`, and while servers of another version run
 */
export async function migrateAmongServers(
  connection: pg.ClientConfig,
  options: MigrateOptions,
): Promise<() => Promise<void>> {
  const client = await connect(connection)
  let isEnded = false
  const end = async () => {
    if (isEnded) return
    isEnded = true
    await client.end()
  }
  try {
    // Locked without pending migrations too: otherwise a later version could begin to change the schema unseen.
    await lockMigrations(client)
    await applyPending(client, options, requireNoOtherVersion)
    await announceServer(client)
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK])
    return end
  } catch (error) {
    await end()
    throw error
  }
}

async function connect(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...connection,
    application_name: 'alcove migrations',
  })
  // A lost connection fails the running statement, which reports it.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** Locks until the end of the connection, which PostgreSQL notices where the machine dies. */
const lockMigrations = (client: pg.Client) =>
  client.query(`${NOTICE_DEATH}; select pg_advisory_lock(${MIGRATION_LOCK})`)

/**
 * To be called once this server is announced. While a later version changes the schema, it waits for the end of that.
 *
 * @throws AppError `startup` where a later version has changed the database since this server started
 */
export async function requireKnownSchema(connection: pg.ClientConfig): Promise<void> {
  const client = await connect(connection)
  try {
    await pendingMigrations(client, {})
    // A later version that did not see the announcement may still be at its first migration.
    await client.query(`${NOTICE_DEATH}; select pg_advisory_lock_shared(${MIGRATION_LOCK})`)
    await pendingMigrations(client, {})
  } finally {
    await client.end()
  }
}

/** Under the lock of migrations. `onUpgrade` is called before a database that has migrations is changed. */
async function applyPending(
  client: pg.Client,
  options: MigrateOptions,
  onUpgrade?: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const found = await pendingMigrations(client, options)
  if (found.length === 0) return
  const isUpgrade = await hasMigrations(client)
  if (isUpgrade) await onUpgrade?.(client)
  const { authenticatorPassword, log } = options
  if (authenticatorPassword !== null) await ensureAuthenticator(client, authenticatorPassword)
  await client.query(`
    create schema if not exists alcove_migrations;
    create table if not exists alcove_migrations.applied (
      name text primary key, checksum text not null, applied_at timestamptz not null default now()
    );
    alter table alcove_migrations.applied enable row level security;
    alter table alcove_migrations.applied force row level security`)
  for (const migration of found) {
    const { folder, name } = migration
    if (isUpgrade)
      log?.info({ migration: `${folder}/${name}` }, 'changing the database; with much data it takes minutes')
    await apply(client, migration)
  }
}

async function hasMigrations(client: pg.Client): Promise<boolean> {
  const table = await client.query<{ present: boolean }>(
    `select to_regclass('alcove_migrations.applied') is not null as present`,
  )
  if (table.rows[0]?.present !== true) return false
  return (await client.query('select from alcove_migrations.applied limit 1')).rowCount === 1
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const { folder, name, checksum } = migration
  const sql = await readSql(migration)
  await client.query('begin')
  try {
    await client.query(`set local search_path = public; set local client_min_messages = error`)
    await client.query(sql)
    await client.query('insert into alcove_migrations.applied (name, checksum) values ($1, $2)', [
      `${folder}/${name}`,
      checksum,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new AppError(
      'startup',
      `The migration ${folder}/${name} failed: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}

/** Roles belong to the cluster, so the login role may exist before this database. */
async function ensureAuthenticator(client: pg.Client, password: string): Promise<void> {
  const existing = await client.query(`select from pg_roles where rolname = 'authenticator'`)
  if (existing.rowCount === 0) await client.query('create role authenticator noinherit login')
  await client.query(`alter role authenticator with login password ${client.escapeLiteral(password)}`)
  // JIT compilation adds about 40 ms to every ranked search and gains nothing on short statements.
  await client.query(`alter role authenticator set jit = off`)
  await limitSorting(client)
}

/** So that sorting wide rows fills no disk; of the statements of people, twelve run at once. */
const MAX_TEMPORARY_FILES = '512MB'

/** Only a superuser may; elsewhere the operator sets it (`docs/deploy.md`). */
async function limitSorting(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ isSuperuser: boolean }>(
    'select rolsuper as "isSuperuser" from pg_roles where rolname = current_user',
  )
  if (rows[0]?.isSuperuser)
    await client.query(`alter role authenticator set temp_file_limit = '${MAX_TEMPORARY_FILES}'`)
}
