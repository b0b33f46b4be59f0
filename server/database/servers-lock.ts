/** Servers that share a database. While one of an earlier version runs, a later one must not change the schema. */
import type pg from 'pg'
import { AppError, codeOf } from '#server/base/errors.ts'

/** Name of the connection on which each server, of earlier versions too, listens for as long as it runs. */
export const LISTENER_NAME = 'alcove listener'

/** Shared by servers, on that connection; exclusive while the schema is changed. Servers of 0.1.0 do not take it. */
const SERVERS_LOCK = 7_141_886

/** PostgreSQL ends the connection of a machine that died or lost its network after half a minute. */
const NOTICE_DEATH = 'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4'

/** Waits while the schema is changed. Holds until the end of the connection. */
export const holdAsServer = (client: pg.ClientBase) =>
  client.query(`${NOTICE_DEATH}; select pg_advisory_lock_shared(${SERVERS_LOCK})`)

export const releaseAsServer = (client: pg.ClientBase) =>
  client.query(`select pg_advisory_unlock_shared(${SERVERS_LOCK})`)

/** PostgreSQL needs a moment to notice that a process ended, such as one that is restarted. */
const END_IS_NOTICED_MS = 3_000
const LOCK_TIMED_OUT = '55P03'

const OTHERS = `
  with known as (
    select pid, granted from pg_locks
    where locktype = 'advisory' and classid = 0 and objid = ${SERVERS_LOCK} and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())
  )
  select (select count(*) from known where granted and pid <> pg_backend_pid())
    + (select count(*) from pg_stat_activity
       where datname = current_database() and application_name = '${LISTENER_NAME}' and pid not in (select pid from known)) as count`

async function countOthers(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ count: string }>(OTHERS)
  return Number(rows[0]?.count)
}

/**
 * Holds the lock exclusively.
 * @throws AppError `startup` while other servers run
 */
export async function excludeServers(client: pg.ClientBase): Promise<void> {
  let isHeld = true
  try {
    await client.query(
      `set lock_timeout = ${END_IS_NOTICED_MS}; select pg_advisory_lock(${SERVERS_LOCK}); reset lock_timeout`,
    )
  } catch (error) {
    if (codeOf(error) !== LOCK_TIMED_OUT) throw error
    isHeld = false
  }
  const count = await countOthers(client)
  if (isHeld && count === 0) return
  const others =
    count > 1 ? `${count} servers of an earlier version still run` : 'a server of an earlier version still runs'
  throw new AppError(
    'startup',
    `The database has to be changed for this version of Alcove, but ${others} on it: stop every server of this database, then start this one. Nothing was changed.`,
  )
}

/** Holds the lock as servers do, instead of exclusively. */
export const admitServers = (client: pg.ClientBase) =>
  client.query(`select pg_advisory_lock_shared(${SERVERS_LOCK}), pg_advisory_unlock(${SERVERS_LOCK})`)
