/**
 * Who a statement runs as. Everything that serves a person goes through `asUser`: one transaction, switched to that
 * person's role and claims, of which nothing survives in the pooled connection.
 */
import pg from 'pg'
import { type Log } from '#server/base/log.ts'
import { createBatchingSocket } from './batching-socket.ts'
import { prepared, preparedOnRepeat } from './prepared.ts'

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
  /** The same for a statement that comes again and again with the same text: the connection keeps its plan. */
  prepared<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<pg.QueryResult<Row>>
  /** The same for a statement that a request has brought about: its plan is kept once it has come several times. */
  preparedOnRepeat<Row extends pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<pg.QueryResult<Row>>
}

/** How a transaction hands work to the process that runs it, which is then spared asking for it: a trigger raises notices. */
export interface DirectDispatch {
  /** By which triggers know that they may. None: nothing is to be handed over now. */
  readonly settings: () => Readonly<Record<string, string>>
  /**
   * Told once what was handed over stands.
   * @param detail of the notice.
   * @param flushed resolves when it would survive a crash of PostgreSQL.
   */
  readonly accept: (detail: string, flushed: Promise<void>) => void
}

export interface ScopeOptions {
  /** Refuse writes (SQLSTATE 25006). */
  readonly readOnly?: boolean
  /** Settings that last as long as the transaction, such as `request.method`. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * Commits first and waits for the disk afterwards: for writes that notify. PostgreSQL lets one transaction with a
   * notification commit at a time, and holds back the others until the disk has written it. Resolves, as ever, when the
   * transaction would survive a crash; others may see it a moment before.
   */
  readonly groupFlush?: boolean
  /**
   * The transaction consists of what `run` sends before it first waits: its end is sent right behind that, which spares a
   * round trip. What `run` throws afterwards undoes nothing; where PostgreSQL refuses a statement, nothing was written.
   */
  readonly endsAtOnce?: boolean
  readonly directDispatch?: DirectDispatch | undefined
}

/** One statement as one person. */
export interface Reading {
  readonly claims: Claims
  readonly text: string
  readonly values: readonly unknown[]
}

/** What stands, and may be seen by others, but would not yet survive a crash of PostgreSQL. */
export interface Ahead<Row extends pg.QueryResultRow> {
  readonly rows: Row[]
  /** Resolves when it would. @throws where it may be lost. */
  readonly flushed: () => Promise<void>
}

export interface Database {
  /** Runs as the caller's role with the caller's claims; row-level security decides what is seen and written. */
  asUser<T>(claims: Claims, run: (scope: Scope) => Promise<T>, options?: ScopeOptions): Promise<T>
  /** Runs as `service_role`, which sees every row: for workers, never on behalf of a request's own words. */
  asService<T>(run: (scope: Scope) => Promise<T>, options?: ScopeOptions): Promise<T>
  /** One statement as `service_role`, in a single round trip. The connection keeps its plan. */
  serviceStatement<Row extends pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<pg.QueryResult<Row>>
  /**
   * The same for statements that come often, on connections that are the service's alone: they need nothing around them.
   * Resolves before the disk has the rows that it answers: what must not be lost in a crash waits for `flushed`.
   */
  serviceStatementAhead<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<Ahead<Row>>
  /**
   * The same kind of reading for many people of one role: each with its own claims, all in one transaction and one round
   * trip. Answers come in the order of the readings; where one fails, all do.
   */
  readAsEach(role: ApiRole, readings: readonly Reading[]): Promise<pg.QueryResult<pg.QueryResultRow>[]>
  /** Runs as the owner of accounts and sessions: for `auth/` alone. */
  asAuth<T>(run: (scope: Scope) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** What a transaction announces on a channel that servers listen to. */
export interface Notification {
  readonly channel: string
  readonly payload: string
}

/** A bus beside the database that carries bells to every server. */
export interface Notifier {
  /** Whether it carries any at present. Where it does not, transactions notify. */
  readonly isOpen: boolean
  /** Rings on every server, this one included. Answers whether the bus has taken it. */
  notify(bell: Notification): boolean
}

/** The int8 of our own counters and positions stays below 2^53; rows of people go out as PostgreSQL's own JSON. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

// One statement for all of them: each would cost a round trip before every query of a person.
const ENTER = `
  select set_config('role', $1, true), set_config('request.jwt.claims', $2, true),
    (select count(set_config(name, value, true)) from unnest($3::text[], $4::text[]) as given (name, value))`

/**
 * Settings for a transaction whose statements, and those of their triggers, find what they read by keys: planning each anew,
 * as PostgreSQL does the first times on a connection, takes several times as long as running it.
 */
export const GENERIC_PLANS = { plan_cache_mode: 'force_generic_plan' }

// For as long as the connection lasts.
const BE_SERVICE = `
  select set_config('role', 'service_role', false), set_config('request.jwt.claims', '{"role":"service_role"}', false),
    set_config('synchronous_commit', 'off', false), set_config('plan_cache_mode', '${GENERIC_PLANS.plan_cache_mode}', false)`

// The role as well: what a function of the one before has set must not reach the next.
const BECOME = `select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)`

// Several statements that belong together see one state, whatever is committed between them.
const BEGIN_READING = 'begin isolation level repeatable read read only'

// A commit of its own, which notifies nobody: the disk writes it together with everything before it, and with what other
// connections wait for.
const FLUSH = `select pg_logical_emit_message(true, 'alcove', '')`

/** SQLSTATE of a notice that hands out a bell: `realtime.ring` raises it where a transaction has asked for that. */
const BELL = 'ALCB1'
/** SQLSTATE of a notice by which work is handed over. */
const HANDOVER = 'ALCH1'
const HAND_OUT = { 'alcove.bells': 'handed', client_min_messages: 'notice' }
const HAND_OUT_ALWAYS = `select set_config('alcove.bells', $1, false), set_config('client_min_messages', 'notice', false)`

/** A request that finds neither the database nor a free connection is refused, rather than kept waiting for ever. */
const CONNECTION_TIMEOUT_MS = 10_000

const MOST_CONNECTIONS = 20
/** Kept however long nobody asks: a new one costs both sides several milliseconds, and what it had planned. */
const KEPT_CONNECTIONS = 8
const IDLE_CONNECTION_MS = 5 * 60_000
/** Beside those: of the queue of questions one claims, one writes, one renews leases, and two store answers. */
const MOST_OF_SERVICE = 5

/** What was read stands; nobody need wait for the end of a transaction that has written nothing, not even for its being sent. */
function endReading(client: pg.PoolClient): void {
  setImmediate(() => {
    client.query('commit').then(
      () => client.release(),
      (error: unknown) => client.release(error instanceof Error ? error : true),
    )
  })
}

/** @param bells where given, what transactions announce is rung by it after the commit, so that no commit waits for another. */
export function openDatabase(connection: pg.PoolConfig, log: Log, bells?: Notifier): Database {
  let isClosed = false
  const handedOut = new WeakMap<pg.ClientBase, Map<string, Notification>>()
  const handedOver = new WeakMap<pg.ClientBase, string[]>()
  const pool = openPool({ max: MOST_CONNECTIONS, min: KEPT_CONNECTIONS, ...connection })
  /** Each is `service_role` from its beginning to its end; none is opened before the first statement. */
  const servicePool = openPool({
    ...connection,
    max: MOST_OF_SERVICE,
    min: MOST_OF_SERVICE,
    verify: (client, done) => void client.query(BE_SERVICE).then(() => done(), done),
  })
  const areHandedOut = new WeakMap<pg.ClientBase, boolean>()

  function openPool(options: pg.PoolConfig): pg.Pool {
    const opened = new pg.Pool({
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      keepAlive: true,
      pipeline: true,
      stream: () => createBatchingSocket(),
      ...options,
      types,
    })
    // The pool listens to idle clients alone; an error event of a working one that nobody hears would end the process.
    opened.on('connect', (client) => {
      client.on('error', (error) => {
        // A connection that is being closed may still hear that the server stops.
        if (!isClosed) log.warn({ err: error }, 'a database connection was lost')
      })
      client.on('notice', ({ code, message, detail: payload = '' }) => {
        if (code === HANDOVER) handedOver.get(client)?.push(payload)
        if (code !== BELL || message === undefined) return
        const own = handedOut.get(client) ?? new Map<string, Notification>()
        // Like notifications: equal ones of a transaction are one.
        handedOut.set(client, own.set(JSON.stringify([message, payload]), { channel: message, payload }))
      })
    })
    opened.on('error', (error) => log.debug({ err: error }, 'an idle database connection was replaced'))
    return opened
  }

  function settingsOf({
    settings = {},
    groupFlush: flushesAfter,
    directDispatch,
  }: ScopeOptions): Readonly<Record<string, string>> {
    const ofHandover = directDispatch?.settings() ?? {}
    return {
      ...settings,
      ...(flushesAfter ? { synchronous_commit: 'off' } : {}),
      ...(Object.keys(ofHandover).length > 0 ? { ...ofHandover, client_min_messages: 'notice' } : {}),
      ...(bells?.isOpen ? HAND_OUT : {}),
    }
  }

  /** Commits, and then rings for what was announced: a bell that rang before would bring nobody to what it tells of. */
  async function commit(
    client: pg.PoolClient,
    { groupFlush: flushesAfter, directDispatch }: ScopeOptions,
  ): Promise<void> {
    const { command } = await client.query('commit')
    if (command !== 'COMMIT') return
    ringFor(client)
    for (const detail of handedOver.get(client) ?? []) {
      try {
        directDispatch?.accept(detail, flushesAfter ? flush() : Promise.resolve())
      } catch (error) {
        // What is committed must not be reported as failed.
        log.error({ err: error }, 'what was handed over could not be taken')
      }
    }
  }

  function ringFor(client: pg.PoolClient): void {
    const own = handedOut.get(client)
    handedOut.delete(client)
    for (const { channel, payload } of own?.values() ?? []) {
      if (bells?.notify({ channel, payload })) continue
      pool
        .query('select pg_notify($1, $2)', [channel, payload])
        .catch((error: unknown) => log.warn({ err: error, channel }, 'a bell could not be rung'))
    }
  }

  let nextFlush: Promise<void> | undefined
  let lastFlush: Promise<unknown> = Promise.resolve()

  /** Resolves when the disk has everything that was committed before. @throws where it may not have it. */
  const flush = (): Promise<void> => (nextFlush ??= startFlush())

  /** One for all who come until it is sent: those who come while another one is under way may be too late for that. */
  async function startFlush(): Promise<void> {
    await lastFlush
    const client = await pool.connect().finally(() => (nextFlush = undefined))
    const flushed = client.query(FLUSH)
    lastFlush = flushed.catch(() => undefined)
    await flushed.then(
      () => client.release(),
      (error: unknown) => {
        client.release(true)
        throw error
      },
    )
  }

  async function transaction<T>(
    role: ApiRole | ServiceRole,
    claims: Claims,
    run: (scope: Scope) => Promise<T>,
    options: ScopeOptions = {},
  ): Promise<T> {
    const result = await runAndCommit(role, claims, run, options)
    if (options.groupFlush) await flush()
    return result
  }

  async function runAndCommit<T>(
    role: ApiRole | ServiceRole,
    claims: Claims,
    run: (scope: Scope) => Promise<T>,
    options: ScopeOptions,
  ): Promise<T> {
    const { readOnly = false, endsAtOnce = false } = options
    const given = settingsOf(options)
    const client = await pool.connect()
    let broken: Error | undefined
    let entered: Promise<unknown> | undefined
    let ended: Promise<void> | undefined
    let isEnding = false
    handedOut.delete(client)
    handedOver.set(client, [])
    try {
      // Sent ahead of the first statement without waiting for the answers. Where one of them fails, what follows is
      // refused: the transaction is aborted, or the login role that may see nothing is still the one that asks.
      entered = Promise.all([
        client.query(readOnly ? BEGIN_READING : 'begin'),
        client.query(prepared(ENTER, [role, JSON.stringify(claims), Object.keys(given), Object.values(given)])),
      ])
      entered.catch(() => undefined)
      const running = run({
        query: (text, values) => client.query(text, values as unknown[] | undefined),
        prepared: (text, values) => client.query(prepared(text, values)),
        preparedOnRepeat: (text, values) => client.query(preparedOnRepeat(text, values)),
      })
      if (endsAtOnce) ended = commit(client, options)
      ended?.catch(() => undefined)
      const result = await running
      await entered
      if (readOnly) {
        isEnding = true
        endReading(client)
        return result
      }
      await (ended ?? commit(client, options))
      return result
    } catch (thrown) {
      // Where the transaction could not be entered, every later error only says that it was aborted.
      const error: unknown = await entered?.then(
        () => thrown,
        (reason: unknown) => reason,
      )
      // After a failure a commit only ends the transaction: PostgreSQL then rolls back.
      const isOver = await ended?.then(
        () => true,
        () => false,
      )
      if (isOver !== true)
        await client.query('rollback').catch((rollbackError: unknown) => {
          broken = new Error('the connection could not be rolled back', { cause: rollbackError })
        })
      throw error
    } finally {
      if (!isEnding) client.release(broken)
    }
  }

  const serviceStatement = <Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<pg.QueryResult<Row>> =>
    transaction('service_role', { role: 'service_role' }, (scope) => scope.prepared<Row>(text, values), {
      endsAtOnce: true,
    })

  async function serviceStatementAhead<Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[],
  ): Promise<Ahead<Row>> {
    const client = await servicePool.connect()
    handedOut.delete(client)
    try {
      const { rows } = await sendAhead<Row>(client, prepared(text, values))
      ringFor(client)
      return { rows, flushed: flush }
    } finally {
      client.release()
    }
  }

  async function sendAhead<Row extends pg.QueryResultRow>(client: pg.PoolClient, statement: pg.QueryConfig) {
    const isHandedOut = bells?.isOpen ?? false
    const isSet = isHandedOut === (areHandedOut.get(client) ?? false)
    const [, answered] = await Promise.all([
      isSet ? undefined : client.query(prepared(HAND_OUT_ALWAYS, [isHandedOut ? 'handed' : ''])),
      client.query<Row>(statement),
    ])
    areHandedOut.set(client, isHandedOut)
    return answered
  }

  async function readAsEach(role: ApiRole, readings: readonly Reading[]): Promise<pg.QueryResult<pg.QueryResultRow>[]> {
    const client = await pool.connect()
    const answers: Promise<pg.QueryResult<pg.QueryResultRow>>[] = []
    const sent: Promise<unknown>[] = [client.query('begin read only')]
    for (const { claims, text, values } of readings) {
      // Where one of them fails the transaction is aborted, and nothing behind it reads with the claims of another.
      sent.push(client.query(prepared(BECOME, [role, JSON.stringify(claims)])))
      const answer = client.query<pg.QueryResultRow>(prepared(text, values))
      answers.push(answer)
      sent.push(answer)
    }
    endReading(client)
    // In the order of sending: the first failure is the one that tells why.
    for (const step of await Promise.allSettled(sent)) if (step.status === 'rejected') throw step.reason
    return Promise.all(answers)
  }

  return {
    serviceStatement,
    serviceStatementAhead,
    readAsEach,
    asUser: (claims, run, options) => transaction(claims.role, claims, run, options),
    asService: (run, options) => transaction('service_role', { role: 'service_role' }, run, options),
    asAuth: (run) => transaction('supabase_auth_admin', { role: 'service_role' }, run),
    close() {
      isClosed = true
      return Promise.all([pool.end(), servicePool.end()]).then(() => undefined)
    },
  }
}
