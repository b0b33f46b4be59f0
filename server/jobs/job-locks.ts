/**
 * Tells running jobs from those of dead servers. Each running job holds an advisory lock on one connection of its
 * server; PostgreSQL lets go of it the moment that the server dies, long before any time limit.
 */
import pg from 'pg'
import { type Log } from '#server/base/log.ts'
import { JOBS_SCHEMA } from './install.ts'

/** First half of the lock's key; any number that nothing else uses. */
const LOCK_CLASS = 7_141_884

/** A job is claimed a moment before it is locked. */
export const CLAIM_GRACE_S = 2

export interface JobLocks {
  during(id: string, run: () => Promise<void>): Promise<void>
  /** Lets the jobs of dead servers run again at once: these did not fail, so they have nothing to wait for. */
  freeAbandoned(names: readonly string[]): Promise<{ name: string; id: string }[]>
  release(): Promise<void>
}

export async function holdJobLocks(connection: pg.ClientConfig, log: Log): Promise<JobLocks> {
  const held = new Set<string>()
  let isReleased = false
  let client = await connect()

  async function connect(): Promise<pg.Client> {
    const next = new pg.Client({ keepAlive: true, ...connection, application_name: 'alcove jobs' })
    next.on('error', (error) => log.warn({ err: error }, 'the connection that holds job locks was lost'))
    await next.connect()
    for (const id of held) await next.query('select pg_advisory_lock($1, hashtext($2))', [LOCK_CLASS, id])
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
        log.warn({ err: error }, 'job locks cannot be taken again yet')
      }
    }
  }

  return {
    async during(id, run) {
      held.add(id)
      await client.query('select pg_advisory_lock($1, hashtext($2))', [LOCK_CLASS, id])
      try {
        await run()
      } finally {
        held.delete(id)
        // Where the connection is gone, so is the lock.
        await client.query('select pg_advisory_unlock($1, hashtext($2))', [LOCK_CLASS, id]).catch(() => undefined)
      }
    },
    async freeAbandoned(names) {
      const found = await client.query<{ name: string; id: string }>(
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
