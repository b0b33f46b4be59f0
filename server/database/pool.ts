import pg from 'pg'
import type { Log } from '#server/base/log.ts'
import type { Admission } from './admission.ts'
import { createBatchingSocket } from './batching-socket.ts'
import { GuardedClient } from './guarded-client.ts'

/** Alcove's own int8 values stay below 2^53; rows of the rest API go out as PostgreSQL's own JSON. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

const CONNECTION_TIMEOUT_MS = 10_000
const IDLE_CONNECTION_MS = 5 * 60_000

export interface PoolEvents {
  readonly log: Log
  readonly isClosed: () => boolean
  readonly onNotice: (
    client: pg.ClientBase,
    code: string | undefined,
    message: string | undefined,
    detail: string,
  ) => void
}

export function openPool(options: pg.PoolConfig, { log, isClosed, onNotice }: PoolEvents): pg.Pool {
  const pool = new pg.Pool({
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    pipeline: true,
    stream: () => createBatchingSocket(),
    ...options,
    Client: GuardedClient,
    types,
  })
  // The pool listens to idle clients only; an unhandled error event of a busy one would end the process.
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      if (!isClosed()) log.warn({ err: error }, 'a database connection was lost')
    })
    client.on('notice', ({ severity, code, message, detail = '' }) => {
      // The embedded database does not log them, since they may quote values.
      if (severity === 'WARNING') log.warn({ code, reason: message }, 'the database warns')
      onNotice(client, code, message, detail)
    })
  })
  pool.on('error', (error) => log.debug({ err: error }, 'an idle database connection was replaced'))
  return pool
}

export interface Lease {
  readonly client: pg.PoolClient
  readonly release: (broken?: Error | boolean) => void
}

/** @param admission with `caller`, limits the connections of that caller; undefined: waits for the pool alone. */
export async function leaseConnection(pool: pg.Pool, admission?: Admission, caller?: string): Promise<Lease> {
  if (admission === undefined || caller === undefined) {
    const client = await pool.connect()
    return { client, release: (broken) => client.release(broken) }
  }
  const turn = admission.enter(caller)
  if (turn) await turn
  try {
    const client = await pool.connect()
    return {
      client,
      release(broken) {
        client.release(broken)
        admission.leave(caller)
      },
    }
  } catch (error) {
    admission.leave(caller)
    throw error
  }
}
