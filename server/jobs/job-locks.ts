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

const LOCK = 'select pg_advisory_lock($1, hashtext(id)) from unnest($2::text[]) as id'
const UNLOCK = 'select pg_advisory_unlock($1, hashtext(id)) from unnest($2::text[]) as id'

export interface JobLocks {
  withLocks(ids: readonly string[], run: () => Promise<void>): Promise<void>
  /** The keys for which one of these queues has a job that waits or runs. */
  listTakenKeys(names: readonly string[], keys: readonly string[]): Promise<Set<string>>
  /** Requeues jobs of dead servers without delay, since they did not fail. */
  freeAbandoned(names: readonly string[]): Promise<{ name: string; id: string }[]>
  release(): Promise<void>
}

export async function holdJobLocks(connection: pg.ClientConfig, log: Log): Promise<JobLocks> {
  const held = new Set<string>()
  let isReleased = false
  let client = await connect()
  /** Jobs that begin and end at the same time share one connection, which takes one statement at a time. */
  const oneAtATime = createSemaphore(1)
  const query = <Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<pg.QueryResult<Row>> =>
    oneAtATime(() => client.query<Row>(text, values))

  async function connect(): Promise<pg.Client> {
    const next = new GuardedClient({ keepAlive: true, ...connection, application_name: 'alcove jobs' })
    next.on('error', (error) => log.warn({ err: error }, 'the connection that holds job locks was lost'))
    await next.connect()
    await next.query(LOCK, [LOCK_CLASS, [...held]])
    next.once('end', () => {
      if (!isReleased) void reconnect()
    })
    return next
  }

  async function reconnect(): Promise<void> {
    while (!isReleased) {
      await new Promise((resolve) => setTimeout(resolve, 500))
      try {
        client = await connect()
        return
      } catch (error) {
        log.warn({ err: error }, 'the job locks could not be acquired again yet')
      }
    }
  }

  return {
    async withLocks(ids, run) {
      for (const id of ids) held.add(id)
      await query(LOCK, [LOCK_CLASS, ids])
      try {
        await run()
      } finally {
        for (const id of ids) held.delete(id)
        await query(UNLOCK, [LOCK_CLASS, ids]).catch(() => undefined)
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
      await client.end()
    },
  }
}
