import type pg from 'pg'
import { currentCaller } from '#server/base/caller.ts'
import type { Log } from '#server/base/log.ts'
import { connectionCaller, createAdmission } from './admission.ts'
import { type BatchReader, createBatchReader } from './batch-reader.ts'
import { createCallerUsage } from './caller-usage.ts'
import { createDispatches } from './direct-dispatch.ts'
import { createGroupFlush } from './group-flush.ts'
import { createNotifications, type Notifier } from './notifications.ts'
import { openPool, type PoolEvents } from './pool.ts'
import { prepared, preparedOnRepeat } from './prepared.ts'
import { createRunningTransactions, type RunningTransactions } from './running-transactions.ts'
import type { Database, TransactionOptions } from './scope.ts'
import { createServiceChannel, type ServiceChannel, serviceConnections } from './service-channel.ts'
import { backendIdOf, boundedConnections, OWN_TIMEOUTS } from './timeouts.ts'
import { type Actor, createTransactions } from './transactions.ts'

/** `min` connections stay open: a new one costs both sides several milliseconds, and loses its plans. */
const PEOPLE_POOL = { max: 12, min: 6 }
/** Apart, so that signing in need not wait for statements of people. */
const SIGN_IN_POOL = { max: 4, min: 2 }
const OWN_POOL = { max: 8, min: 4 }

/** A caller holds at most half of any pool, so that others always find a free connection. */
const PEOPLE_ADMISSION = { places: PEOPLE_POOL.max, placesPerCaller: 4 }
const SIGN_IN_ADMISSION = { places: SIGN_IN_POOL.max, placesPerCaller: 2 }
/** Requests leave two connections to workers. A thousand sockets may join at once after a restart. */
const OWN_ADMISSION = { places: OWN_POOL.max - 2, placesPerCaller: 2, waitingPerCaller: 1_000 }

export interface OpenDatabase {
  /** For requests: limits what each caller holds. */
  readonly database: Database
  /** For workers, and for reads that requests share: never waits behind a caller's requests. */
  readonly background: Database
  readonly serviceChannel: ServiceChannel
  readonly batchReader: BatchReader
  /** Transactions of people's requests. */
  readonly running: Omit<RunningTransactions, 'enter'>
  readonly close: () => Promise<void>
}

/** Cancels no statement if the connection has closed. */
const CANCEL = 'select pg_cancel_backend(pid) from pg_stat_activity where pid = $1'

const SERVICE = { role: 'service_role' } as const

export function openDatabase(connection: pg.PoolConfig, log: Log, bus?: Notifier): OpenDatabase {
  let isClosed = false
  const notifications = createNotifications(
    bus,
    ({ channel, payload }) => own.query('select pg_notify($1, $2)', [channel, payload]),
    log,
  )
  const dispatches = createDispatches(log)
  const events: PoolEvents = {
    log,
    isClosed: () => isClosed,
    onNotice(client, code, message, detail) {
      dispatches.collect(client, code, detail)
      notifications.collect(client, code, message, detail)
    },
  }
  const people = openPool({ ...PEOPLE_POOL, ...connection, ...boundedConnections }, events)
  const signIn = openPool({ ...SIGN_IN_POOL, ...connection }, events)
  const own = openPool({ ...OWN_POOL, ...connection }, events)
  const service = openPool({ ...connection, ...serviceConnections }, events)
  const flush = createGroupFlush(own)
  const shared = { notifications, dispatches, flush }
  const usage = createCallerUsage()
  const running = createRunningTransactions((client) => {
    own.query(CANCEL, [backendIdOf(client)]).catch((error: unknown) => {
      log.warn({ err: error }, 'a statement of an ended session could not be cancelled yet')
    })
  })
  const ofPeople = createTransactions({
    ...shared,
    pool: people,
    admission: createAdmission(PEOPLE_ADMISSION, usage),
    running,
  })
  const ofSignIn = createTransactions({ ...shared, pool: signIn, admission: createAdmission(SIGN_IN_ADMISSION, usage) })
  const ofServer = createTransactions({ ...shared, pool: own, admission: createAdmission(OWN_ADMISSION, usage) })

  /** On behalf of the current request, if there is one. */
  const serverActor = (role: Actor['role']): Actor => ({ role, claims: SERVICE, caller: currentCaller() })
  const bounded = (options: TransactionOptions = {}): TransactionOptions => ({
    ...options,
    settings: { ...OWN_TIMEOUTS, ...options.settings },
  })

  const database: Database = {
    asUser: (claims, run, options) =>
      ofPeople.run({ role: claims.role, claims, caller: connectionCaller(claims) }, run, options),
    userStatement: (claims, { text, values }, options) =>
      ofPeople.runStatement(
        { role: claims.role, claims, caller: connectionCaller(claims) },
        (client) => preparedOnRepeat(client, text, values),
        options,
      ),
    asService: (run, options) => ofServer.run(serverActor('service_role'), run, bounded(options)),
    serviceStatement: (text, values) =>
      ofServer.runStatement(serverActor('service_role'), () => prepared(text, values), bounded({})),
    asAuth: (run) => ofSignIn.run(serverActor('supabase_auth_admin'), run, bounded({})),
  }

  const ownActor = (role: Actor['role'], claims: Actor['claims'] = SERVICE): Actor => ({
    role,
    claims,
    caller: undefined,
  })
  const ownService: Database['asService'] = (run, options) => ofServer.run(ownActor('service_role'), run, options)
  const background: Database = {
    asUser: (claims, run, options) => ofServer.run(ownActor(claims.role, claims), run, options),
    userStatement: (claims, { text, values }, options) =>
      ofServer.runStatement(ownActor(claims.role, claims), (client) => preparedOnRepeat(client, text, values), options),
    asService: ownService,
    serviceStatement: (text, values) => ofServer.runStatement(ownActor('service_role'), () => prepared(text, values)),
    asAuth: (run) => ofServer.run(ownActor('supabase_auth_admin'), run),
  }

  return {
    database,
    background,
    serviceChannel: createServiceChannel({ pool: service, notifications, flush, asService: ownService }),
    batchReader: createBatchReader(own),
    running,
    async close() {
      isClosed = true
      await Promise.all([people.end(), signIn.end(), own.end(), service.end()])
    },
  }
}
