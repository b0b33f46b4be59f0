/** Fills an empty database with the schema and rows of another one, which may be of another version. */
import pg from 'pg'
import { AppError } from '#server/base/errors.ts'
import { migrate } from '#server/database/migrate.ts'
import { installJobs, JOBS_SCHEMA } from '#server/jobs/install.ts'
import { type Progress, reportEvery } from './progress.ts'
import {
  type DatabaseContent,
  describeObjects,
  listTables,
  nameTable,
  readJobsVersion,
  type Table,
  VALUE_FORMAT,
} from './snapshot.ts'
import { withoutTriggers } from './without-triggers.ts'

export async function onClient<T>(connection: pg.ClientConfig, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...connection, application_name: 'alcove restore', keepAlive: true })
  // A lost connection fails the running statement, which reports it.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query(VALUE_FORMAT)
    return await run(client)
  } finally {
    await client.end()
  }
}

/** Folders of migrations that the database has applied. */
export const foldersOf = ({ migrations }: Pick<DatabaseContent, 'migrations'>) =>
  (['platform', 'product'] as const).filter((folder) => migrations.some(({ name }) => name.startsWith(`${folder}/`)))

export interface NotCreated {
  readonly statement: string
  readonly reason: string
  /** The object is there, with another definition. */
  readonly isPresent: boolean
}

export interface SchemaCreation {
  readonly content: DatabaseContent
  readonly authenticatorPassword: string
  /** Runs before objects of people are created. */
  readonly onMigrated?: (client: pg.Client) => Promise<void>
}

export interface CreatedSchema {
  /** Objects of people that could not be created. */
  readonly notCreated: readonly NotCreated[]
  /** Statements of migrations that `content` does not have: people changed or removed their objects. */
  readonly surplus: readonly string[]
}

export async function createSchema(
  connection: pg.ClientConfig,
  { content, authenticatorPassword, onMigrated = async () => undefined }: SchemaCreation,
): Promise<CreatedSchema> {
  const only = new Set(content.migrations.map(({ name }) => name))
  await migrate(connection, { folders: foldersOf(content), authenticatorPassword, only })
  if (content.jobsVersion !== null) await installJobs(connection)
  return onClient(connection, async (client) => {
    await onMigrated(client)
    return createOwnObjects(client, content.statements)
  })
}

/** Creates what no migration creates: tables, functions, policies and so on that people made themselves. */
async function createOwnObjects(client: pg.Client, statements: readonly string[]): Promise<CreatedSchema> {
  await client.query('begin')
  await client.query('set local check_function_bodies to off')
  const present = new Set(await describeObjects(client))
  const expected = new Set(statements)
  let missing = statements.filter((statement) => !present.has(statement))
  let failed: NotCreated[] = []
  // One may need another that comes later, so all are tried until no further one succeeds.
  for (let before = -1; missing.length !== before && missing.length > 0;) {
    before = missing.length
    failed = []
    for (const statement of missing) {
      const error = await tryStatement(client, statement)
      if (error !== undefined)
        failed.push({ statement, reason: error.message, isPresent: DUPLICATES.has(error.code ?? '') })
    }
    missing = failed.map(({ statement }) => statement)
  }
  const surplus = (await describeObjects(client, [JOBS_SCHEMA])).filter(
    (statement) => present.has(statement) && !expected.has(statement),
  )
  await client.query('commit')
  return { notCreated: failed, surplus }
}

/** Errors of objects that exist: column, schema, function, table, object. */
const DUPLICATES: ReadonlySet<string> = new Set(['42701', '42P06', '42723', '42P07', '42710'])

async function tryStatement(client: pg.Client, statement: string): Promise<pg.DatabaseError | undefined> {
  await client.query('savepoint one')
  try {
    await client.query(statement)
    await client.query('release savepoint one')
    return undefined
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    await client.query('rollback to savepoint one')
    return error
  }
}

export interface LoadOptions<T extends Table> {
  readonly content: DatabaseContent<T>
  /** Names in errors where the rows come from. */
  readonly holder: string
  readonly load: (table: T) => Promise<void>
  /** Runs before the commit. */
  readonly onLoaded?: () => Promise<void>
  readonly progress: Progress
}

/** Replaces all rows in one transaction. @returns the tables that were loaded */
export async function loadRows<T extends Table>(
  client: pg.Client,
  { content, holder, load, onLoaded = async () => undefined, progress }: LoadOptions<T>,
): Promise<T[]> {
  await client.query('begin')
  const present = new Map((await listTables(client)).map((table) => [nameTable(table), table]))
  const hasSameJobs = (await readJobsVersion(client, JOBS_SCHEMA)) === content.jobsVersion
  // Jobs of another version of their library are found again by the server.
  const tables = content.tables.filter(({ schema }) => schema !== JOBS_SCHEMA || hasSameJobs)
  const [lost] = tables.filter((table) => !present.has(nameTable(table)))
  if (lost !== undefined)
    throw new AppError('conflict', `The table ${nameTable(lost)} of the ${holder} cannot be created here.`)
  await withoutTriggers(client, [...present.values()], async () => {
    if (tables.length > 0) await client.query(`truncate ${tables.map(nameTable).join(', ')}`)
    const report = reportEvery(progress)
    for (const [index, table] of tables.entries()) {
      await load(table)
      report(() => `${index + 1} of ${tables.length} tables loaded, the last one ${table.schema}.${table.name}`)
    }
    for (const { schema, name, value, isCalled } of content.sequences) {
      if (schema === JOBS_SCHEMA && !hasSameJobs) continue
      await client.query('select setval($1::regclass, $2, $3)', [nameTable({ schema, name }), value, isCalled])
    }
  })
  await onLoaded()
  await client.query('commit')
  return tables
}
