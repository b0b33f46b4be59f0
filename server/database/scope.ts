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

export function openDatabase(connection: pg.PoolConfig, log: Log): Database {
  const pool = new pg.Pool({ max: 20, idleTimeoutMillis: 30_000, ...connection, types })
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'))

  async function transaction<T>(
    role: ApiRole | ServiceRole,
    claims: Claims,
    run: (scope: Scope) => Promise<T>,
    { readOnly = false, settings = {} }: ScopeOptions = {},
  ): Promise<T> {
    const client = await pool.connect()
    let broken: Error | undefined
    try {
      await client.query(readOnly ? 'begin read only' : 'begin')
      await client.query(ENTER, [role, JSON.stringify(claims), Object.keys(settings), Object.values(settings)])
      const result = await run({ query: (text, values) => client.query(text, values as unknown[] | undefined) })
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch((rollbackError: unknown) => {
        broken = new Error('the connection could not be rolled back', { cause: rollbackError })
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  return {
    asUser: (claims, run, options) => transaction(claims.role, claims, run, options),
    asService: (run, options) => transaction('service_role', { role: 'service_role' }, run, options),
    asAuth: (run) => transaction('supabase_auth_admin', { role: 'service_role' }, run),
    close: () => pool.end(),
  }
}
