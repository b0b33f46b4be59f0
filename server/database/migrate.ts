import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { admitServers, excludeServers, holdAsServer, releaseAsServer } from './servers-lock.ts'

/** `platform`: the schema that a Supabase project provides itself. `product`: Alcove's tables. */
type Folder = 'platform' | 'product'

interface Migration {
  readonly folder: Folder
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

/** Checksums before a rewrite for more databases; a later migration brings older databases to the new schema. */
const FORMER_CHECKSUMS: Readonly<Record<string, string>> = {
  'product/0009_documents_bucket.sql': 'c764f01948c441d45ba2858c780e5dbe3f9caa671b0a7dbcbba1afff1e0535a5',
  'product/0046_quotas.sql': 'd5e62d6942312e85c3fbdd7c45c7122c848be9747925255d76e2026192220eb7',
}

const MIGRATION_LOCK = 7_141_883

async function readMigrations(): Promise<Migration[]> {
  const migrations: Migration[] = []
  for (const folder of ['platform', 'product'] as const) {
    const directory = new URL(`./migrations/${folder}/`, import.meta.url)
    const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
    for (const name of names) {
      const sql = await readFile(new URL(name, directory), 'utf8')
      migrations.push({ folder, name, sql, checksum: createHash('sha256').update(sql).digest('hex') })
    }
  }
  return migrations
}

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
  migrations: readonly Migration[],
  { folders, only }: Pick<MigrateOptions, 'only'> & { readonly folders: readonly Folder[] },
): Promise<Migration[]> {
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
    await applyPending(client, options)
  } finally {
    await client.end()
  }
}

/**
 * For a database that several servers share: changes nothing while one of an earlier version runs.
 *
 * @returns what ends the announcement of this server, once its listening connection is open
 * @throws AppError `startup`, as `migrate`, and while servers of an earlier version run
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
    // From here on no later version changes the schema, until this server stops.
    await holdAsServer(client)
    let isExclusive = false
    await applyPending(client, options, {
      // Another start that waits for the lock of migrations must not look like a server.
      onPending: () => releaseAsServer(client),
      async onUpgrade() {
        await excludeServers(client)
        isExclusive = true
      },
      onApplied: () => (isExclusive ? admitServers(client) : holdAsServer(client)),
    })
    return end
  } catch (error) {
    await end()
    throw error
  }
}

async function connect(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, application_name: 'alcove migrations' })
  // A lost connection fails the running statement, which reports it.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** @throws AppError `startup` where a later version has changed the database since this server started */
export async function requireKnownSchema(connection: pg.ClientConfig): Promise<void> {
  const client = await connect(connection)
  try {
    await pendingMigrations(client, await readMigrations(), { folders: [] })
  } finally {
    await client.end()
  }
}

interface Steps {
  readonly onPending: () => Promise<unknown>
  /** Before a database that has migrations is changed. */
  readonly onUpgrade: () => Promise<unknown>
  readonly onApplied: () => Promise<unknown>
}

async function applyPending(
  client: pg.Client,
  { folders = ['platform', 'product'], authenticatorPassword, only, log }: MigrateOptions,
  steps?: Steps,
): Promise<void> {
  const migrations = await readMigrations()
  const wanted = { folders, ...(only ? { only } : {}) }
  if ((await pendingMigrations(client, migrations, wanted)).length === 0) return
  await steps?.onPending()
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
  const found = await pendingMigrations(client, migrations, wanted)
  const isUpgrade = found.length > 0 && (await hasMigrations(client))
  if (isUpgrade) await steps?.onUpgrade()
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
  await steps?.onApplied()
  await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK])
}

async function hasMigrations(client: pg.Client): Promise<boolean> {
  const table = await client.query<{ present: boolean }>(
    `select to_regclass('alcove_migrations.applied') is not null as present`,
  )
  if (table.rows[0]?.present !== true) return false
  return (await client.query('select from alcove_migrations.applied limit 1')).rowCount === 1
}

async function apply(client: pg.Client, { folder, name, sql, checksum }: Migration): Promise<void> {
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
