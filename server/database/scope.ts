/**
 * The roles that statements run as. Everything that serves a person goes through `asUser`: one transaction with that
 * person's role and claims, which leaves no state on the pooled connection.
 */
import type pg from 'pg'
import { type DirectDispatch } from './direct-dispatch.ts'

/** `service_role` requires the service key. */
export type ApiRole = 'anon' | 'authenticated' | 'service_role'

export interface Claims {
  readonly role: ApiRole
  readonly sub?: string | undefined
  readonly [claim: string]: unknown
}

type RunQuery = <Row extends pg.QueryResultRow>(
  text: string,
  values?: readonly unknown[],
) => Promise<pg.QueryResult<Row>>

export interface Scope {
  readonly query: RunQuery
  /** For constant statements: the connection keeps the plan. */
  readonly prepared: RunQuery
  /** For statements that depend on a request: the connection keeps the plan after several uses. */
  readonly preparedOnRepeat: RunQuery
}

export interface WriteOptions {
  /** Settings of the transaction, such as `request.method`. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * Commits asynchronously, then waits for a flush that many transactions share; resolves when durable. For writes
   * that notify: PostgreSQL commits one notifying transaction at a time, so a synchronous flush delays the others.
   */
  readonly groupFlush?: boolean
  readonly directDispatch?: DirectDispatch | undefined
}

export interface TransactionOptions extends WriteOptions {
  /** Reject writes (SQLSTATE 25006). */
  readonly readOnly?: boolean
}

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface Database {
  /** Runs as the caller's role with the caller's claims; row-level security decides what is visible and writable. */
  asUser<T>(claims: Claims, run: (scope: Scope) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs one statement as the caller and commits in one round trip. */
  userStatement<Row extends pg.QueryResultRow>(
    claims: Claims,
    statement: Statement,
    options?: WriteOptions,
  ): Promise<pg.QueryResult<Row>>
  /** Runs as `service_role`, which sees every row: for workers, never for SQL that a request chose. */
  asService<T>(run: (scope: Scope) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs one statement as `service_role` and commits in one round trip. */
  readonly serviceStatement: RunQuery
  /** Runs as the owner of accounts and sessions: for `auth/` only. */
  asAuth<T>(run: (scope: Scope) => Promise<T>): Promise<T>
}

/**
 * Settings for a transaction that finds rows by key: planning the first executions of a statement for their values
 * takes several times as long as running it.
 */
export const GENERIC_PLANS = { plan_cache_mode: 'force_generic_plan' }
