/**
 * Who a statement runs as. Everything that serves a person goes through `asUser`: one transaction, switched to that
 * person's role and claims, of which nothing survives in the pooled connection.
 */
import pg from 'pg'
import { type Log } from '#server/base/log.ts'

/** The roles that a caller may bring; `service_role` only with the service key. */
export type ApiRole = 'anon' | 'authenticated' | 'service_role'
type ServiceRole = 'service_role' | 'supabase_auth_admin'

export interface Claims {
  readonly role: ApiRole
  readonly sub?: string | undefined
  readonly [claim: string]: unknown
}

/** A running transaction, already switched to its role. */
export interface Scope {
  query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<pg.QueryResult<Row>>
}

export interface ScopeOptions {
  /** Refuse writes (SQLSTATE 25006). */
  readonly readOnly?: boolean
  /** Settings that last as long as the transaction, such as `request.method`. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface Database {
  /** Runs as the caller's role with the caller's claims; row-level security decides what is seen and written. */
  asUser<T>(claims: Claims, run: (scope: Scope) => Promise<T>, options?: ScopeOptions): Promise<T>
  /** Runs as `service_role`, which sees every row: for workers, never on behalf of a request's own words. */
  asService<T>(run: (scope: Scope) => Promise<T>, options?: ScopeOptions): Promise<T>
  /** One statement as `service_role`, in a single round trip. */
  serviceStatement<Row extends pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
    settings?: Readonly<Record<string, string>>,
  ): Promise<pg.QueryResult<Row>>
  /** Runs as the owner of accounts and sessions: for `auth/` alone. */
  asAuth<T>(run: (scope: Scope) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** The int8 of our own counters and positions stays below 2^53; rows of people go out as PostgreSQL's own JSON. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

// One statement for all of them: each would cost a round trip before every query of a person.
const ENTER = `
  select set_config('role', $1, true), set_config('request.jwt.claims', $2, true),
    (select count(set_config(name, value, true)) from unnest($3::text[], $4::text[]) as given (name, value))`

/** A request that finds neither the database nor a free connection is refused, rather than kept waiting for ever. */
const CONNECTION_TIMEOUT_MS = 10_000

export function openDatabase(connection: pg.PoolConfig, log: Log): Database {
  const pool = new pg.Pool({
    max: 20,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    pipeline: true,
    ...connection,
    types,
  })
  let isClosed = false
  // The pool listens to idle clients alone; an error event of a working one that nobody hears would end the process.
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      // A connection that is being closed may still hear that the server stops.
      if (!isClosed) log.warn({ err: error }, 'a database connection was lost')
    })
  })
  pool.on('error', (error) => log.debug({ err: error }, 'an idle database connection was replaced'))

  async function transaction<T>(
    role: ApiRole | ServiceRole,
    claims: Claims,
    run: (scope: Scope) => Promise<T>,
    { readOnly = false, settings = {} }: ScopeOptions = {},
  ): Promise<T> {
    const client = await pool.connect()
    let broken: Error | undefined
    let entered: Promise<unknown> | undefined
    try {
      // Sent ahead of the first statement without waiting for the answers. Where one of them fails, what follows is
      // refused: the transaction is aborted, or the login role that may see nothing is still the one that asks.
      entered = Promise.all([
        client.query(readOnly ? 'begin read only' : 'begin'),
        client.query(ENTER, [role, JSON.stringify(claims), Object.keys(settings), Object.values(settings)]),
      ])
      entered.catch(() => undefined)
      const result = await run({ query: (text, values) => client.query(text, values as unknown[] | undefined) })
      await entered
      await client.query('commit')
      return result
    } catch (thrown) {
      // Where the transaction could not be entered, every later error only says that it was aborted.
      const error: unknown = await entered?.then(
        () => thrown,
        (reason: unknown) => reason,
      )
      await client.query('rollback').catch((rollbackError: unknown) => {
        broken = new Error('the connection could not be rolled back', { cause: rollbackError })
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  async function serviceStatement<Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
    settings: Readonly<Record<string, string>> = {},
  ): Promise<pg.QueryResult<Row>> {
    const client = await pool.connect()
    const claims = JSON.stringify({ role: 'service_role' })
    const [begun, entered, answered, ended] = await Promise.allSettled([
      client.query('begin'),
      client.query(ENTER, ['service_role', claims, Object.keys(settings), Object.values(settings)]),
      client.query<Row>(text, values as unknown[]),
      // After a failure this only ends the transaction: PostgreSQL then rolls back.
      client.query('commit'),
    ])
    client.release(ended.status === 'rejected')
    for (const step of [begun, entered, ended]) if (step.status === 'rejected') throw step.reason
    if (answered.status === 'rejected') throw answered.reason
    return answered.value
  }

  return {
    serviceStatement,
    asUser: (claims, run, options) => transaction(claims.role, claims, run, options),
    asService: (run, options) => transaction('service_role', { role: 'service_role' }, run, options),
    asAuth: (run) => transaction('supabase_auth_admin', { role: 'service_role' }, run),
    close() {
      isClosed = true
      return pool.end()
    },
  }
}
