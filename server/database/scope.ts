/** Everything that serves a person goes through `asUser`, which leaves no state on the pooled connection. */
import type pg from 'pg'
import type { DirectDispatch } from './direct-dispatch.ts'

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
  readonly preparedOnRepeat: RunQuery
}

export interface WriteOptions {
  readonly settings?: Readonly<Record<string, string>>
  /** Shares an asynchronous flush; resolves when durable. For writes that notify: PostgreSQL serialises commits. */
  readonly groupFlush?: boolean
  readonly directDispatch?: DirectDispatch | undefined
  /** Broken off when rights of its person change while it runs: for requests that no access watch covers. */
  readonly endsWithRights?: boolean
}

export interface TransactionOptions extends WriteOptions {
  readonly readOnly?: boolean
}

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface Database {
  /** Runs with the caller's role and claims; row-level security decides what is visible and writable. */
  asUser<T>(claims: Claims, run: (scope: Scope) => Promise<T>, options?: TransactionOptions): Promise<T>
  userStatement<Row extends pg.QueryResultRow>(
    claims: Claims,
    statement: Statement,
    options?: WriteOptions,
  ): Promise<pg.QueryResult<Row>>
  /** Runs as `service_role`, which sees every row: for workers, never for SQL that a request chose. */
  asService<T>(run: (scope: Scope) => Promise<T>, options?: TransactionOptions): Promise<T>
  readonly serviceStatement: RunQuery
  /** Runs as the owner of accounts and sessions: for `auth/` only. */
  asAuth<T>(run: (scope: Scope) => Promise<T>): Promise<T>
}

/** Setting of a transaction that sees the documents of one library only: of a person, or of a space. */
export const onlyLibrary = (library: string) => ({ 'alcove.libraries': library })

/** For look-ups by key: planning a statement for its values takes several times as long as running it. */
export const GENERIC_PLANS = { plan_cache_mode: 'force_generic_plan' }
