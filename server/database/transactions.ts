import type pg from 'pg'
import type { Dispatches } from './direct-dispatch.ts'
import type { Notifications } from './notifications.ts'
import { prepared, preparedOnRepeat } from './prepared.ts'
import type { ApiRole, Claims, Scope, TransactionOptions, WriteOptions } from './scope.ts'

type Role = ApiRole | 'supabase_auth_admin'

// One statement: several would each add a round trip to every query of a person.
const ENTER = `
  select set_config('role', $1, true), set_config('request.jwt.claims', $2, true),
    (select count(set_config(name, value, true)) from unnest($3::text[], $4::text[]) as given (name, value))`

// All statements of a read see one snapshot.
const BEGIN_READ_ONLY = 'begin isolation level repeatable read read only'

export function endReadOnly(client: pg.PoolClient): void {
  setImmediate(() => {
    client.query('commit').then(
      () => client.release(),
      (error: unknown) => client.release(error instanceof Error ? error : true),
    )
  })
}

async function rollBack(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await client.query('rollback')
    return undefined
  } catch (error) {
    return new Error('the connection could not be rolled back', { cause: error })
  }
}

const scopeOn = (client: pg.PoolClient): Scope => ({
  query: (text, values) => client.query(text, values as unknown[] | undefined),
  prepared: (text, values) => client.query(prepared(text, values)),
  preparedOnRepeat: (text, values) => client.query(preparedOnRepeat(text, values)),
})

interface Connected {
  readonly pool: pg.Pool
  readonly notifications: Notifications
  readonly dispatches: Dispatches
  readonly flush: () => Promise<void>
}

export interface Transactions {
  run<T>(role: Role, claims: Claims, run: (scope: Scope) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Sends the commit right behind the statement. If PostgreSQL rejects either, nothing is written. */
  runStatement<Row extends pg.QueryResultRow>(
    role: Role,
    claims: Claims,
    statement: pg.QueryConfig,
    options?: WriteOptions,
  ): Promise<pg.QueryResult<Row>>
}

export function createTransactions({ pool, notifications, dispatches, flush }: Connected): Transactions {
  const settingsOf = ({ settings, groupFlush, directDispatch }: WriteOptions): Readonly<Record<string, string>> => ({
    ...settings,
    ...(groupFlush ? { synchronous_commit: 'off' } : {}),
    ...dispatches.settings(directDispatch),
    ...notifications.settings(),
  })

  /** Does not wait: if entering fails, the transaction is aborted or the login role sees nothing. */
  function enter(
    client: pg.PoolClient,
    begin: string,
    role: Role,
    claims: Claims,
    settings: Readonly<Record<string, string>>,
  ): Promise<unknown> {
    notifications.begin(client)
    dispatches.begin(client)
    const entered = Promise.all([
      client.query(begin),
      client.query(prepared(ENTER, [role, JSON.stringify(claims), Object.keys(settings), Object.values(settings)])),
    ])
    entered.catch(() => undefined)
    return entered
  }

  async function commit(client: pg.PoolClient, { groupFlush, directDispatch }: WriteOptions): Promise<void> {
    const { command } = await client.query('commit')
    // PostgreSQL answers ROLLBACK if an earlier statement failed.
    if (command !== 'COMMIT') return
    notifications.publish(client)
    dispatches.deliver(client, directDispatch, groupFlush ? flush : () => Promise.resolve())
  }

  async function runAndCommit<T>(
    role: Role,
    claims: Claims,
    run: (scope: Scope) => Promise<T>,
    options: TransactionOptions,
  ): Promise<T> {
    const { readOnly = false } = options
    const settings = settingsOf(options)
    const client = await pool.connect()
    let entered: Promise<unknown> | undefined
    let broken: Error | undefined
    let isEnding = false
    try {
      entered = enter(client, readOnly ? BEGIN_READ_ONLY : 'begin', role, claims, settings)
      const result = await run(scopeOn(client))
      await entered
      if (readOnly) {
        isEnding = true
        endReadOnly(client)
      } else await commit(client, options)
      return result
    } catch (thrown) {
      // If entering the transaction failed, later errors only say that it is aborted.
      const error: unknown = await entered?.then(
        () => thrown,
        (reason: unknown) => reason,
      )
      broken = await rollBack(client)
      throw error
    } finally {
      if (!isEnding) client.release(broken)
    }
  }

  async function sendAndCommit<Row extends pg.QueryResultRow>(
    role: Role,
    claims: Claims,
    statement: pg.QueryConfig,
    options: WriteOptions,
  ): Promise<pg.QueryResult<Row>> {
    const settings = settingsOf(options)
    const client = await pool.connect()
    let broken: Error | undefined
    try {
      const [entered, answer, committed] = await Promise.allSettled([
        enter(client, 'begin', role, claims, settings),
        client.query<Row>(statement),
        commit(client, options),
      ])
      if (committed.status === 'rejected') broken = await rollBack(client)
      if (entered.status === 'rejected') throw entered.reason
      if (answer.status === 'rejected') throw answer.reason
      if (committed.status === 'rejected') throw committed.reason
      return answer.value
    } finally {
      client.release(broken)
    }
  }

  return {
    async run(role, claims, run, options = {}) {
      const result = await runAndCommit(role, claims, run, options)
      if (options.groupFlush) await flush()
      return result
    },
    async runStatement<Row extends pg.QueryResultRow>(
      role: Role,
      claims: Claims,
      statement: pg.QueryConfig,
      options: WriteOptions = {},
    ) {
      const answer = await sendAndCommit<Row>(role, claims, statement, options)
      if (options.groupFlush) await flush()
      return answer
    },
  }
}
