/**
 * Reclaims the space of a deleted account in the files of the embedded PostgreSQL: its dead rows, and the log of changes.
 * Other installations of PostgreSQL are their operator's to vacuum.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '#server/base/log.ts'

export interface DeletedReclaim {
  /** Asks for a run, now or after the pause; several requests share one. */
  request(): void
  /** Waits for the run in progress. One that waits for the end of the pause is left out. */
  stop(): Promise<void>
}

/** More segments of 16 MB than these are left to be overwritten by later changes. */
const MAX_OVERWRITTEN_SEGMENTS = 32

/** Each run reads the whole database: accounts that are opened and deleted again and again must not keep it busy. */
const PAUSE_MS = 10 * 60_000

export function createDeletedReclaim(run: () => Promise<void>, log: Log, pauseMs = PAUSE_MS): DeletedReclaim {
  const stopping = new AbortController()
  const { signal } = stopping
  let isWanted = false
  let running: Promise<void> | undefined

  async function runOnce(): Promise<void> {
    isWanted = false
    try {
      await run()
    } catch (error) {
      log.warn({ err: error }, 'deleted rows still take space in the files of the database')
    }
  }

  async function runWhileWanted(): Promise<void> {
    while (isWanted && !signal.aborted) {
      await runOnce()
      await delay(pauseMs, undefined, { signal, ref: false }).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
    }
    running = undefined
  }

  return {
    request() {
      isWanted = true
      running ??= runWhileWanted()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/**
 * Frees dead rows, so that later ones overwrite them, and replaces the log of changes (WAL). Free space within a page
 * keeps its bytes until a row is written there.
 */
export async function reclaimDeleted(admin: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(admin)
  await client.connect()
  try {
    // Slow on purpose: people are waiting for the same disk.
    await client.query('set vacuum_cost_delay = 1')
    await client.query('vacuum')
    await replaceChangeLog(client)
  } finally {
    await client.end()
  }
}

/** Files of the log are normally renamed and used again, and would keep what they hold until then. */
async function replaceChangeLog(client: pg.Client): Promise<void> {
  await client.query('alter system set wal_recycle = off')
  await client.query('select pg_reload_conf()')
  try {
    // The server tells its processes of the new setting one after the other.
    while ((await client.query<{ wal_recycle: string }>('show wal_recycle')).rows[0]?.wal_recycle !== 'off')
      await delay(5)
    const { rows } = await client.query<{ waiting: number }>(
      `select count(*)::int as waiting from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$' and name > pg_walfile_name(pg_current_wal_insert_lsn())`,
    )
    const waiting = Math.min(rows[0]?.waiting ?? 0, MAX_OVERWRITTEN_SEGMENTS)
    // The last one leaves the file with the deletion itself.
    for (let segment = 0; segment <= waiting; segment += 1) {
      await client.query(`select pg_logical_emit_message(false, 'alcove', '')`)
      await client.query('select pg_switch_wal()')
    }
    await client.query('checkpoint')
  } finally {
    await client.query('alter system reset wal_recycle')
    await client.query('select pg_reload_conf()')
  }
}
