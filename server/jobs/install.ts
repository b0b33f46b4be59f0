import pg from 'pg'

export const JOBS_SCHEMA = 'pgboss'
/** A test compares this with the package, whose loading would add 0.1 s to each start. */
export const JOBS_SCHEMA_VERSION = 42

/** Arbitrary, but equal in every version. */
const INSTALL_LOCK = 7_141_884

const GRANTS = `
  grant usage on schema ${JOBS_SCHEMA} to service_role;
  grant select, insert, update, delete on all tables in schema ${JOBS_SCHEMA} to service_role;
  grant usage on all sequences in schema ${JOBS_SCHEMA} to service_role;
  grant execute on all functions in schema ${JOBS_SCHEMA} to service_role`

export async function installJobs(connection: pg.ClientConfig): Promise<void> {
  const client = new pg.Client({ ...connection, application_name: 'alcove jobs set-up' })
  await client.connect()
  try {
    if (await isCurrent(client)) return
    await client.query('select pg_advisory_lock($1)', [INSTALL_LOCK])
    if (await isCurrent(client)) return
    const { PgBoss } = await import('pg-boss')
    const boss = new PgBoss({
      db: { executeSql: (text, values) => client.query(text, values).then(lastResult) },
      schema: JOBS_SCHEMA,
      supervise: false,
      schedule: false,
    })
    const failure = new Promise<never>((_, reject) => boss.once('error', reject))
    await Promise.race([boss.start(), failure])
    await boss.stop({ graceful: false })
    await client.query(GRANTS)
  } finally {
    await client.end()
  }
}

/** For several statements, pg returns an array. */
const lastResult = (result: pg.QueryResult | pg.QueryResult[]): { rows: unknown[] } =>
  Array.isArray(result) ? (result.at(-1) ?? { rows: [] }) : result

async function isCurrent(client: pg.Client): Promise<boolean> {
  const table = await client.query<{ present: boolean }>(
    `select to_regclass('${JOBS_SCHEMA}.version') is not null as present`,
  )
  if (table.rows[0]?.present !== true) return false
  const version = await client.query<{ is_current: boolean }>(
    `select version >= $1 and has_table_privilege('service_role', '${JOBS_SCHEMA}.version', 'select') as is_current from ${JOBS_SCHEMA}.version`,
    [JOBS_SCHEMA_VERSION],
  )
  return version.rows[0]?.is_current === true
}
