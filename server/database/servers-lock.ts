/**
 * Servers that share a database. A version that has to change the schema must not do so while servers of another one run,
 * so each server announces the version of its schema: an advisory lock that servers of all versions share, and that is
 * never taken exclusively. Servers of one version, whatever their parts, therefore never wait for one another.
 */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { AppError } from '#server/base/errors.ts'
import { readMigrations } from './read-migrations.ts'

/** Name of the connection on which each server, of earlier versions too, listens for as long as it runs. */
export const LISTENER_NAME = 'alcove listener'

/** First key of the announcements. Servers of 0.1.0 make none. */
const SERVERS_CLASS = 7_141_886

/**
 * PostgreSQL ends the connection of a machine that died or lost its network after half a minute: the keep-alives find it
 * while the connection is idle, the timeout while notifications are in flight.
 */
export const NOTICE_DEATH =
  'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4; set tcp_user_timeout = 30000'

/** @returns the second key: a signed 32-bit hash of the names of all migrations, whichever parts this server runs */
async function schemaVersion(): Promise<number> {
  const names = (await readMigrations()).map(({ folder, name }) => `${folder}/${name}`)
  return createHash('sha256').update(names.join('\n')).digest().readInt32BE()
}

/** Announces this server until the connection ends. */
export async function announceServer(client: pg.ClientBase): Promise<void> {
  await client.query(`${NOTICE_DEATH}; select pg_advisory_lock_shared(${SERVERS_CLASS}, ${await schemaVersion()})`)
}

/** PostgreSQL needs a moment to notice that a process ended, such as one that is restarted. */
const END_IS_NOTICED_MS = 3_000
const POLL_MS = 100

/** Servers with another announcement, and listeners without one. */
const OTHERS = `
  with announced as (
    select pid, objid from pg_locks
    where locktype = 'advisory' and classid = ${SERVERS_CLASS} and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database())
  )
  select (select count(distinct pid) from announced where objid <> $1::int4::oid)
    + (select count(*) from pg_stat_activity
       where datname = current_database() and application_name = '${LISTENER_NAME}' and pid not in (select pid from announced)) as count`

async function countOthers(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ count: string }>(OTHERS, [await schemaVersion()])
  return Number(rows[0]?.count)
}

/**
 * To be called under the lock of migrations, which no server leaves without its announcement.
 *
 * @throws AppError `startup` while servers of another version run
 */
export async function requireNoOtherVersion(client: pg.ClientBase): Promise<void> {
  const deadline = performance.now() + END_IS_NOTICED_MS
  let count = await countOthers(client)
  while (count > 0 && performance.now() < deadline) {
    await delay(POLL_MS)
    count = await countOthers(client)
  }
  if (count === 0) return
  const others =
    count > 1 ? `${count} servers of an earlier version still run` : 'a server of an earlier version still runs'
  throw new AppError(
    'startup',
    `The database has to be changed for this version of Alcove, but ${others} on it: stop every server of this database, then start this one. Nothing was changed.`,
  )
}
