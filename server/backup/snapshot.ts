/** Reads a database as of one instant. Everything is found in the catalogue, so that no table is left out. */
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { isBlobId } from '#server/blobs/id.ts'
import { listObjects } from '#server/database/describe-schema.ts'
import { JOBS_SCHEMA } from '#server/jobs/install.ts'

/** Values are written in one way, whatever the settings of the database are. Before 17 there is no `transaction_timeout`. */
export const VALUE_FORMAT = `
  set datestyle to 'ISO, MDY'; set intervalstyle to 'postgres'; set extra_float_digits to 1; set bytea_output to 'hex';
  set timezone to 'UTC'; set client_encoding to 'UTF8'; set xmlbinary to 'base64'; set lc_monetary to 'C';
  select set_config(name, '0', false) from pg_settings
  where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`

/** Holds how far a restore is; never part of a backup. */
export const RESTORE_SCHEMA = 'alcove_restore'

/** Schemas that are not PostgreSQL's own. */
const OWN_SCHEMAS = `select oid from pg_namespace
  where nspname !~ '^pg_' and nspname not in ('information_schema', '${RESTORE_SCHEMA}')`

const OF_NO_EXTENSION = `not exists (
  select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`

export interface Table {
  readonly schema: string
  readonly name: string
  /** Without generated ones, which the database computes again. */
  readonly columns: readonly string[]
}

/** Tables with rows of their own: a partitioned table has none, its partitions have. */
export async function listTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select n.nspname as schema, c.relname as name,
       coalesce(array_agg(a.attname::text order by a.attnum) filter (where a.attname is not null), '{}') as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind = 'r' and c.relpersistence <> 't' and n.oid in (${OWN_SCHEMAS}) and ${OF_NO_EXTENSION}
     group by c.oid, n.nspname order by n.nspname collate "C", c.relname collate "C"`,
  )
  return rows
}

export interface Sequence {
  readonly schema: string
  readonly name: string
  /** Text, since it may exceed 2^53. */
  readonly value: string
  readonly isCalled: boolean
}

/** Sequences follow no snapshot: they are at least as far as the rows are. */
export async function readSequences(client: pg.ClientBase): Promise<Sequence[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'S' and c.relpersistence <> 't' and n.oid in (${OWN_SCHEMAS}) and ${OF_NO_EXTENSION}
     order by n.nspname collate "C", c.relname collate "C"`,
  )
  const read = async ({ schema, name }: { schema: string; name: string }): Promise<Sequence> => {
    const { rows: values } = await client.query<{ value: string; isCalled: boolean }>(
      `select last_value::text as value, is_called as "isCalled" from ${nameTable({ schema, name })}`,
    )
    return { schema, name, value: values[0]?.value ?? '1', isCalled: values[0]?.isCalled ?? false }
  }
  const sequences = []
  for (const row of rows) sequences.push(await read(row))
  return sequences
}

export const nameTable = ({ schema, name }: { readonly schema: string; readonly name: string }): string =>
  `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`

export const nameColumns = ({ columns }: { readonly columns: readonly string[] }): string =>
  columns.length === 0 ? '' : `(${columns.map((column) => pg.escapeIdentifier(column)).join(', ')})`

/** Text of `COPY`, which every version of PostgreSQL reads. @returns the stream; its `rowCount` is set at its end */
export const copyOut = (client: pg.ClientBase, table: Table) =>
  client.query(copyTo(`copy ${nameTable(table)} ${nameColumns(table)} to stdout`, { highWaterMark: 256 * 1024 }))

export async function describeObjects(client: pg.ClientBase, without: readonly string[] = []): Promise<string[]> {
  const { rows } = await client.query<{ schema: string }>(
    `select quote_ident(nspname) as schema from pg_namespace where oid in (${OWN_SCHEMAS}) and nspname <> all ($1)
     order by nspname collate "C"`,
    [without],
  )
  return listObjects(
    client,
    rows.map(({ schema }) => schema),
  )
}

/**
 * Ids of the bytes that rows name. Columns with them are called `blob_id` or `path`; rows of `discarded_blobs` name bytes
 * that may be gone already.
 */
export async function readNamedBlobs(client: pg.ClientBase): Promise<Set<string>> {
  const { rows: columns } = await client.query<{ schema: string; name: string; column: string }>(
    `select n.nspname as schema, c.relname as name, a.attname as column
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where c.relkind = 'r' and n.oid in (${OWN_SCHEMAS}) and a.attname in ('blob_id', 'path') and c.relname <> 'discarded_blobs'
       and a.atttypid in ('text'::regtype, 'uuid'::regtype) and not a.attisdropped`,
  )
  const named = new Set<string>()
  for (const { schema, name, column } of columns) {
    const { rows } = await client.query<{ id: string | null }>(
      `select distinct ${pg.escapeIdentifier(column)}::text as id from ${nameTable({ schema, name })}`,
    )
    for (const { id } of rows) if (id !== null && isBlobId(id)) named.add(id)
  }
  return named
}

/** Version of the schema of the job queue, which its own library creates; null without one. */
export async function readJobsVersion(client: pg.ClientBase, schema: string): Promise<number | null> {
  const { rows } = await client.query<{ present: boolean }>('select to_regclass($1) is not null as present', [
    `${schema}.version`,
  ])
  if (rows[0]?.present !== true) return null
  const versions = await client.query<{ version: number }>(`select version from ${schema}.version`)
  return versions.rows[0]?.version ?? null
}

/** A database as of one instant, without its rows. */
export interface DatabaseContent<T extends Table = Table> {
  readonly migrations: readonly { readonly name: string; readonly checksum: string }[]
  /** Version of the schema of the job queue; null without one. */
  readonly jobsVersion: number | null
  /** One SQL statement for each object of the schema, in the order in which they can be applied. */
  readonly statements: readonly string[]
  readonly tables: readonly T[]
  readonly sequences: readonly Sequence[]
}

/** @param client is in a transaction that reads as of one instant */
export async function describeDatabase(client: pg.ClientBase): Promise<DatabaseContent> {
  return {
    migrations: await readMigrations(client),
    jobsVersion: await readJobsVersion(client, JOBS_SCHEMA),
    statements: await describeObjects(client),
    tables: await listTables(client),
    sequences: await readSequences(client),
  }
}

/** @returns none of a database whose first start was killed */
async function readMigrations(client: pg.ClientBase): Promise<DatabaseContent['migrations']> {
  const { rows } = await client.query<{ present: boolean }>(
    `select to_regclass('alcove_migrations.applied') is not null as present`,
  )
  if (rows[0]?.present !== true) return []
  const applied = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from alcove_migrations.applied order by name collate "C"',
  )
  return applied.rows
}
