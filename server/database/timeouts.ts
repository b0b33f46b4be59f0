/** Bounds on what a person's request may wait for or hold. */
import type pg from 'pg'

export const STATEMENT_TIMEOUT_MS = 8_000
/** Well below the bound of a statement, so that requests that wait for one row do not hold connections for long. */
export const LOCK_TIMEOUT_MS = 3_000
/** PostgreSQL ends the connection. Ranking of passages happens between two statements. */
const IDLE_TRANSACTION_TIMEOUT_MS = 30_000

const SET_TIMEOUTS = `
  select pg_backend_pid() as pid, set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false), set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', false),
    set_config('idle_in_transaction_session_timeout', '${IDLE_TRANSACTION_TIMEOUT_MS}', false)`

const backendIds = new WeakMap<pg.ClientBase, number>()

/** Process id of the PostgreSQL backend of a bounded connection. A pooler reports another number to its clients. */
export const backendIdOf = (client: pg.ClientBase): number | undefined => backendIds.get(client)

async function setTimeouts(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ pid: number }>(SET_TIMEOUTS)
  const [{ pid } = { pid: undefined }] = rows
  if (pid !== undefined) backendIds.set(client, pid)
}

/** The defaults of a connection cost nothing per statement. */
export const boundedConnections: pg.PoolConfig = {
  verify: (client, done) => void setTimeouts(client).then(() => done(), done),
}

/** For the server's own statements on behalf of a request. */
export const OWN_TIMEOUTS = { statement_timeout: '60000', lock_timeout: String(LOCK_TIMEOUT_MS) }
