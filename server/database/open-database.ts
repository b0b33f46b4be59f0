import type pg from 'pg'
import type { Log } from '#server/base/log.ts'
import { type BatchReader, createBatchReader } from './batch-reader.ts'
import { createDispatches } from './direct-dispatch.ts'
import { createGroupFlush } from './group-flush.ts'
import { createNotifications, type Notifier } from './notifications.ts'
import { openPool, type PoolEvents } from './pool.ts'
import { prepared, preparedOnRepeat } from './prepared.ts'
import type { Database } from './scope.ts'
import { createServiceChannel, type ServiceChannel, serviceConnections } from './service-channel.ts'
import { createTransactions } from './transactions.ts'

const MAX_CONNECTIONS = 20
/** Idle connections stay open: a new one costs both sides several milliseconds, and loses its plans. */
const MIN_CONNECTIONS = 8

export interface OpenDatabase {
  readonly database: Database
  readonly serviceChannel: ServiceChannel
  readonly batchReader: BatchReader
  readonly close: () => Promise<void>
}

export function openDatabase(connection: pg.PoolConfig, log: Log, bus?: Notifier): OpenDatabase {
  let isClosed = false
  const notifications = createNotifications(
    bus,
    ({ channel, payload }) => pool.query('select pg_notify($1, $2)', [channel, payload]),
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
  const pool = openPool({ max: MAX_CONNECTIONS, min: MIN_CONNECTIONS, ...connection }, events)
  const servicePool = openPool({ ...connection, ...serviceConnections }, events)
  const flush = createGroupFlush(pool)
  const transactions = createTransactions({ pool, notifications, dispatches, flush })

  const asService: Database['asService'] = (run, options) =>
    transactions.run('service_role', { role: 'service_role' }, run, options)

  return {
    database: {
      asUser: (claims, run, options) => transactions.run(claims.role, claims, run, options),
      userStatement: (claims, { text, values }, options) =>
        transactions.runStatement(claims.role, claims, preparedOnRepeat(text, values), options),
      asService,
      serviceStatement: (text, values) =>
        transactions.runStatement('service_role', { role: 'service_role' }, prepared(text, values)),
      asAuth: (run) => transactions.run('supabase_auth_admin', { role: 'service_role' }, run),
    },
    serviceChannel: createServiceChannel({ pool: servicePool, notifications, flush, asService }),
    batchReader: createBatchReader(pool),
    async close() {
      isClosed = true
      await Promise.all([pool.end(), servicePool.end()])
    },
  }
}
