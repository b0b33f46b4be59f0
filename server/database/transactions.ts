import type pg from 'pg'
import { traceOperation } from '#server/base/tracing.ts'
import type { Dispatches } from './direct-dispatch.ts'
import type { Notifications } from './notifications.ts'
import type { Admission } from './admission.ts'
import { type Lease, leaseConnection } from './pool.ts'
import { prepared, preparedOnRepeat } from './prepared.ts'
import type { RunningTransaction, RunningTransactions } from './running-transactions.ts'
import type { ApiRole, Claims, Scope, TransactionOptions, WriteOptions } from './scope.ts'

export interface Actor {
  readonly role: ApiRole | 'supabase_auth_admin'
  readonly claims: Claims
  /** Whose share of the connections this uses; undefined: the work of the server itself. */
  readonly caller: string | undefined
}

// One statement: several would each add a round trip to every query of a person.
const ENTER = `
  select set_config('role', $1, true), set_config('request.jwt.claims', $2, true),
    (select count(set_config(name, value, true)) from unnest($3::text[], $4::text[]) as given (name, value))`

// All statements of a read see one snapshot.
const BEGIN_READ_ONLY = 'begin isolation level repeatable read read only'

export function endReadOnly({ client, release }: Lease): void {
  setImmediate(() => {
    client.query('commit').then(
      () => release(),
      (error: unknown) => release(error instanceof Error ? error : true),
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

/** The statement of a person may be one that they wrote, such as a filter with names of theirs: it is not told. */
const attributesOf = ({ role }: Actor, text: string) =>
  role === 'service_role' || role === 'supabase_auth_admin' ? { text } : undefined

function scopeOn(client: pg.PoolClient, actor: Actor, current: RunningTransaction | undefined): Scope {
  const traced = <T>(text: string, send: () => Promise<T>) =>
    current?.ended
      ? Promise.reject(current.ended)
      : traceOperation('statement', actor.role, send, attributesOf(actor, text))
  return {
    query: (text, values) => traced(text, () => client.query(text, values as unknown[] | undefined)),
    prepared: (text, values) => traced(text, () => client.query(prepared(text, values))),
    preparedOnRepeat: (text, values) => traced(text, () => client.query(preparedOnRepeat(client, text, values))),
  }
}

interface Connected {
  readonly pool: pg.Pool
  readonly admission?: Admission
  /** Transactions that end with their session; undefined for the server's own work. */
  readonly running?: RunningTransactions
  readonly notifications: Notifications
  readonly dispatches: Dispatches
  readonly flush: () => Promise<void>
}

/** The statement to send on this connection. */
type Prepare = (client: pg.ClientBase) => pg.QueryConfig

export interface Transactions {
  run<T>(actor: Actor, run: (scope: Scope) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Sends the commit right behind the statement. If PostgreSQL rejects either, nothing is written. */
  runStatement<Row extends pg.QueryResultRow>(
    actor: Actor,
    prepare: Prepare,
    options?: WriteOptions,
  ): Promise<pg.QueryResult<Row>>
}

export function createTransactions({
  pool,
  admission,
  running,
  notifications,
  dispatches,
  flush,
}: Connected): Transactions {
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
    { role, claims }: Actor,
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

  /** @param run ends with the release of the connection */
  async function inConnection<T>(
    { claims, caller }: Actor,
    { endsWithRights = false }: WriteOptions,
    run: (lease: Lease, current: RunningTransaction | undefined) => Promise<T>,
  ): Promise<T> {
    const current = running?.enter(claims, endsWithRights)
    try {
      const lease = await leaseConnection(pool, admission, caller)
      try {
        current?.begin(lease.client)
      } catch (error) {
        lease.release()
        throw error
      }
      return await run(lease, current)
    } catch (error) {
      // Errors of a cancelled statement only say that it was cancelled.
      throw current?.ended ?? error
    } finally {
      current?.leave()
    }
  }

  const runAndCommit = <T>(actor: Actor, run: (scope: Scope) => Promise<T>, options: TransactionOptions): Promise<T> =>
    inConnection(actor, options, async (lease, current) => {
      const { readOnly = false } = options
      const settings = settingsOf(options)
      const { client } = lease
      let entered: Promise<unknown> | undefined
      let broken: Error | undefined
      let isEnding = false
      try {
        entered = enter(client, readOnly ? BEGIN_READ_ONLY : 'begin', actor, settings)
        const result = await run(scopeOn(client, actor, current))
        await entered
        if (current?.ended) throw current.ended
        current?.leave()
        if (readOnly) {
          isEnding = true
          endReadOnly(lease)
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
        // A request to cancel its statement may still be on its way.
        if (!isEnding) lease.release(current?.ended ?? broken)
      }
    })

  const sendAndCommit = <Row extends pg.QueryResultRow>(
    actor: Actor,
    prepare: Prepare,
    options: WriteOptions,
  ): Promise<pg.QueryResult<Row>> =>
    inConnection(actor, options, async ({ client, release }, current) => {
      const settings = settingsOf(options)
      let broken: Error | undefined
      try {
        const [entered, answer, committed] = await Promise.allSettled([
          enter(client, 'begin', actor, settings),
          client.query<Row>(prepare(client)),
          commit(client, options),
        ])
        if (committed.status === 'rejected') broken = await rollBack(client)
        if (entered.status === 'rejected') throw entered.reason
        if (answer.status === 'rejected') throw answer.reason
        if (committed.status === 'rejected') throw committed.reason
        return answer.value
      } finally {
        release(current?.ended ?? broken)
      }
    })

  return {
    run: (actor, run, options = {}) =>
      traceOperation('transaction', actor.role, async () => {
        const result = await runAndCommit(actor, run, options)
        if (options.groupFlush) await flush()
        return result
      }),
    runStatement: <Row extends pg.QueryResultRow>(actor: Actor, prepare: Prepare, options: WriteOptions = {}) =>
      traceOperation('transaction', actor.role, async () => {
        const answer = await sendAndCommit<Row>(actor, prepare, options)
        if (options.groupFlush) await flush()
        return answer
      }),
  }
}
