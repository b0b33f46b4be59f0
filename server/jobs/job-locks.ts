/** Each running job holds an advisory lock on its server's connection, released when the server dies. */
import type pg from 'pg'
import type { Log } from '#server/base/log.ts'
import { createSemaphore } from '#server/base/semaphore.ts'
import { GuardedClient } from '#server/database/guarded-client.ts'
import { JOBS_SCHEMA } from './install.ts'

/** First half of the lock's key; arbitrary, but unique. */
const LOCK_CLASS = 7_141_884

/** A job is claimed a moment before it is locked. */
export const CLAIM_GRACE_S = 2

/** Never waits: the connection serves one statement at a time, so a wait would stop the other jobs of this server. */
const LOCK = 'select id from unnest($2::text[]) as id where pg_try_advisory_lock($1, hashtext(id))'
const UNLOCK = 'select pg_advisory_unlock($1, hashtext(id)) from unnest($2::text[]) as id'

export interface JobLocks {
  /** @throws Error if this or another server still runs one of the jobs; the queue then retries them. */
  withLocks(ids: readonly string[], run: () => Promise<void>): Promise<void>
  /** The keys for which one of these queues has a job that waits or runs. */
  listTakenKeys(names: readonly string[], keys: readonly string[]): Promise<Set<string>>
  /** Requeues jobs of dead servers without delay, since they did not fail. */
  freeAbandoned(names: readonly string[]): Promise<{ name: string; id: string }[]>
  release(): Promise<void>
}

export async function holdJobLocks(connection: pg.ClientConfig, log: Log): Promise<JobLocks> {
  /** Ids of the jobs that run here. */
  const held = new Set<string>()
  /** Those of them that the present connection could not lock: PostgreSQL may not know yet that the one before was lost. */
  const missing = new Set<string>()
  let isReleased = false
  /** Jobs that begin and end at the same time share one connection, which takes one statement at a time. */
  const oneAtATime = createSemaphore(1)
  let client = await connect()
  const query = <Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<pg.QueryResult<Row>> =>
    oneAtATime(() => client.query<Row>(text, values))

  async function connect(): Promise<pg.Client> {
    const next = new GuardedClient({ keepAlive: true, ...connection, application_name: 'alcove jobs' })
    next.on('error', (error) => log.warn({ err: error }, 'the connection that holds job locks was lost'))
    try {
      await next.connect()
      const wanted = [...held]
      const locked = await lock(next, wanted)
      missing.clear()
      for (const id of wanted) if (!locked.has(id)) missing.add(id)
    } catch (error) {
      await next.end()
      throw error
    }
    next.once('end', () => {
      if (!isReleased) void reconnect()
    })
    return next
  }

  async function reconnect(): Promise<void> {
    while (!isReleased) {
      await new Promise((resolve) => setTimeout(resolve, 500))
      try {
        // In turn with the statements: a job that ends meanwhile is unlocked on the new connection.
        await oneAtATime(async () => {
          if (!isReleased) client = await connect()
        })
        return
      } catch (error) {
        log.warn({ err: error }, 'the job locks could not be acquired again yet')
      }
    }
  }

  const lockMissing = (): Promise<void> =>
    oneAtATime(async () => {
      if (missing.size === 0) return
      for (const id of await lock(client, [...missing])) missing.delete(id)
    })

  async function unlock(ids: ReadonlySet<string>): Promise<void> {
    const locked = [...ids].filter((id) => held.delete(id) && !missing.delete(id))
    // A lost connection has no locks.
    if (locked.length > 0) await query(UNLOCK, [LOCK_CLASS, locked]).catch(() => undefined)
  }

  return {
    async withLocks(ids, run) {
      const locked = await oneAtATime(async () => {
        // A session locks twice what it has locked, and a job that took too long is retried while it still runs.
        if (ids.some((id) => held.has(id))) throw new Error('this server still runs this job')
        const found = await lock(client, ids)
        for (const id of found) held.add(id)
        return found
      })
      try {
        if (ids.some((id) => !locked.has(id))) throw new Error('another server still runs this job')
        await run()
      } finally {
        await unlock(locked)
      }
    },
    async listTakenKeys(names, keys) {
      const found = await query<{ key: string }>(
        `select distinct singleton_key as key from ${JOBS_SCHEMA}.job
         where singleton_key = any ($2::text[]) and name = any ($1) and state in ('created', 'retry', 'active')`,
        [names, keys],
      )
      return new Set(found.rows.map(({ key }) => key))
    },
    async freeAbandoned(names) {
      await lockMissing()
      const found = await query<{ name: string; id: string }>(
        `update ${JOBS_SCHEMA}.job set state = 'retry', start_after = now()
         where name = any ($1) and state = 'active' and started_on < now() - make_interval(secs => $2)
           and not exists (
             select from pg_locks l
             where l.locktype = 'advisory' and l.classid::bigint = $3 and l.objid::bigint = hashtext(job.id::text)::bigint & 4294967295
               and l.objsubid = 2 and l.database = (select oid from pg_database where datname = current_database())
           )
         returning name, id`,
        [names, CLAIM_GRACE_S, LOCK_CLASS],
      )
      return found.rows
    },
    async release() {
      isReleased = true
      await oneAtATime(() => client.end())
    },
  }
}

async function lock(client: pg.Client, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>(LOCK, [LOCK_CLASS, ids])
  return new Set(rows.map(({ id }) => id))
}
