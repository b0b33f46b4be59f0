/** Connections that break off while PostgreSQL commits, so that the server does not learn that the row was written. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { openDatabase } from '#server/database/open-database.ts'
import type { Database } from '#server/database/scope.ts'
import type { TestDatabase } from './database.ts'

const LOCK = 4_711
const COMMIT_BEGINS = 'the commit begins'
const POSTGRES_PORT = 5432

/** @returns the port of a proxy that breaks off a connection whose commit has begun */
async function startProxy(socketFolder: string): Promise<number> {
  const open = new Set<Socket>()
  const server = createServer((inward) => {
    const outward = connect(path.join(socketFolder, `.s.PGSQL.${POSTGRES_PORT}`))
    inward.on('data', (sent) => outward.write(sent))
    outward.on('data', (answered: Buffer) => {
      // The other side stays open: PostgreSQL goes on with the commit.
      if (answered.includes(COMMIT_BEGINS)) inward.resetAndDestroy()
      else if (!inward.destroyed) inward.write(answered)
    })
    for (const socket of [inward, outward]) {
      open.add(socket)
      socket.on('error', () => socket.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    for (const socket of open) socket.destroy()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}

/** For one test. `finishCommit` resolves when the row of the broken connection is visible. */
export async function loseCommitOf(
  db: TestDatabase,
  table: string,
): Promise<{ readonly database: Database; readonly finishCommit: () => Promise<void> }> {
  await db.admin.query(`
    create function await_the_test() returns trigger language plpgsql security definer as
      $$ begin raise warning '${COMMIT_BEGINS}'; perform pg_advisory_xact_lock(${LOCK}); return null; end $$;
    create constraint trigger await_the_test after insert on ${table} deferrable initially deferred
      for each row execute function await_the_test()`)
  const holder = new pg.Client(db.adminConnection)
  await holder.connect()
  await holder.query(`select pg_advisory_lock(${LOCK})`)
  const port = await startProxy(String(db.connection.host))
  const { database, close } = openDatabase({ ...db.connection, host: '127.0.0.1', port }, createLog('silent'))
  onTestFinished(async () => {
    await close()
    await holder.end()
    await db.admin.query(`drop trigger await_the_test on ${table}; drop function await_the_test()`)
  })
  const countRows = async () => (await db.admin.query(`select from ${table}`)).rowCount ?? 0
  const before = await countRows()
  return {
    database,
    async finishCommit() {
      await holder.query(`select pg_advisory_unlock(${LOCK})`)
      await expect.poll(countRows).toBe(before + 1)
    },
  }
}
