import type pg from 'pg'
import type { Notifications } from './notifications.ts'
import { prepared } from './prepared.ts'
import { type Database, GENERIC_PLANS } from './scope.ts'

export interface AsyncCommit<Row extends pg.QueryResultRow> {
  readonly rows: Row[]
  /** Resolves when the commit is durable. @throws if it may be lost */
  readonly flushed: () => Promise<void>
}

export interface ServiceChannel extends Pick<Database, 'asService'> {
  /** Commits asynchronously: wait for `flushed` before relying on the result after a crash of PostgreSQL. */
  statement<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<AsyncCommit<Row>>
}

const BECOME_SERVICE = `
  select set_config('role', 'service_role', false), set_config('request.jwt.claims', '{"role":"service_role"}', false),
    set_config('synchronous_commit', 'off', false), set_config('plan_cache_mode', '${GENERIC_PLANS.plan_cache_mode}', false)`
const RAISE_NOTICES = `select set_config('alcove.bells', $1, false), set_config('client_min_messages', 'notice', false)`

/** The queue claims, writes parts and renews leases on one connection each, and stores answers on two. */
const MAX_SERVICE_CONNECTIONS = 5

export const serviceConnections: pg.PoolConfig = {
  max: MAX_SERVICE_CONNECTIONS,
  min: MAX_SERVICE_CONNECTIONS,
  verify: (client, done) => void client.query(BECOME_SERVICE).then(() => done(), done),
}

interface Connected extends Pick<Database, 'asService'> {
  readonly pool: pg.Pool
  readonly notifications: Notifications
  readonly flush: () => Promise<void>
}

export function createServiceChannel({ pool, notifications, flush, asService }: Connected): ServiceChannel {
  const raisesNotices = new WeakMap<pg.ClientBase, boolean>()

  async function send<Row extends pg.QueryResultRow>(
    client: pg.PoolClient,
    statement: pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>> {
    const { isOpen } = notifications
    const isSet = isOpen === (raisesNotices.get(client) ?? false)
    const [, answer] = await Promise.all([
      isSet ? undefined : client.query(prepared(RAISE_NOTICES, [isOpen ? 'handed' : ''])),
      client.query<Row>(statement),
    ])
    raisesNotices.set(client, isOpen)
    return answer
  }

  return {
    asService,
    async statement<Row extends pg.QueryResultRow>(
      text: string,
      values: readonly unknown[],
    ): Promise<AsyncCommit<Row>> {
      const client = await pool.connect()
      notifications.begin(client)
      try {
        const { rows } = await send<Row>(client, prepared(text, values))
        notifications.publish(client)
        return { rows, flushed: flush }
      } finally {
        client.release()
      }
    },
  }
}
