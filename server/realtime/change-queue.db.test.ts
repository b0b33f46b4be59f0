/** Changes of other people between the pages of a large transaction. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { openListener } from '#server/database/listen.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { createRecorder } from '#test/realtime.ts'
import { followOutbox } from './outbox-follow.ts'
import { scanOutbox } from './outbox-scan.ts'
import type { Change } from './outbox.ts'
import { createRetry } from './retry.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.admin.query(`
    create table notes (id integer primary key, body text);
    create table others (id integer primary key, body text);
    create table keyless (id integer, body text);
    alter publication supabase_realtime add table notes, others, keyless`)
})
beforeEach(() => database.admin.query('truncate notes, others, keyless, realtime.changes'))
afterAll(() => database.drop())

async function start(follow: typeof followOutbox) {
  const log = createLog('silent')
  const listener = await openListener(database.connection, log)
  const batches = createRecorder<readonly Change[]>()
  const heard = createRecorder<string>()
  const reconnected = createRecorder<true>()
  const first = Promise.withResolvers<undefined>()
  const outbox = await follow({
    database: database.database,
    listener,
    log,
    retry: createRetry(log, () => false),
    async deliver(batch) {
      batches.add(batch)
      await first.promise
    },
    onSchemaChange: () => undefined,
    onRestart: () => undefined,
  })
  // Called after the handler of the outbox: a notification that was heard is in its queue.
  await listener.on('realtime_changes', (payload) => heard.add(payload))
  listener.onReconnect(() => reconnected.add(true))
  onTestFinished(async () => {
    first.resolve(undefined)
    await outbox.close()
    await listener.close()
  })
  return {
    batches,
    reconnected,
    /** Writes while the first batch is delivered; resolves when the outbox has been notified. */
    write: async (sql: string) => {
      await database.admin.query(sql)
      await heard.next()
    },
    /** Ends the delivery of the first batch, and returns all batches with as many changes together. */
    deliverAll: async (changes: number) => {
      first.resolve(undefined)
      const delivered: (readonly Change[])[] = []
      while (delivered.flat().length < changes) delivered.push(await batches.next())
      return delivered.map((batch) => batch.map(({ table, key, old }) => ({ table, id: Number(key?.['id']), isUpdate: old !== undefined }))) // prettier-ignore
    },
  }
}

const insertMany = (table: string, count: number) =>
  `insert into ${table} select n, '' from generate_series(1, ${count}) n`

const OUTBOXES = [
  ['followed', followOutbox],
  ['scanned', scanOutbox],
] as const

test.each(OUTBOXES)('%s: a change by another person waits for at most two pages of 20,000 rows', async (_, follow) => {
  const { write, deliverAll } = await start(follow)
  await write(insertMany('notes', 20_000))
  await write(`insert into others values (1, '')`)
  const batches = await deliverAll(20_001)
  expect(batches.findIndex((batch) => batch.some(({ table }) => table === 'others'))).toBeLessThanOrEqual(2)
  expect(batches.flat().flatMap(({ table, id }) => (table === 'notes' ? [id] : []))).toEqual(
    Array.from({ length: 20_000 }, (_, index) => index + 1),
  )
})

test.each(OUTBOXES)(
  '%s: a later change of a row of the large transaction comes after the page with that row, before the end',
  async (_, follow) => {
    const { write, deliverAll } = await start(follow)
    await write(insertMany('notes', 3_000))
    await write(`update notes set body = 'later' where id = 1200`)
    await write(`update notes set body = 'later' where id = 3`)
    await write(`update notes set body = 'later' where id in (1700, 1701)`)
    const batches = await deliverAll(3_004)
    const updates = batches.map((batch) => batch.filter(({ isUpdate }) => isUpdate).map(({ id }) => id))
    expect(updates.flat().toSorted((a, b) => a - b)).toEqual([3, 1200, 1700, 1701])
    const pageOf = (id: number, isUpdate: boolean) =>
      batches.findIndex((batch) => batch.some((change) => change.id === id && change.isUpdate === isUpdate))
    for (const id of [3, 1200, 1700]) expect(pageOf(id, true)).toBeGreaterThan(pageOf(id, false))
    expect(pageOf(1700, true)).toBeLessThan(pageOf(3_000, false))
  },
)

test.each(OUTBOXES)('%s: changes of rows without a key wait for all of their table', async (_, follow) => {
  const { write, deliverAll } = await start(follow)
  await write(insertMany('keyless', 2_000))
  await write(`insert into keyless values (0, 'later')`)
  await write(`insert into others values (1, '')`)
  const batches = await deliverAll(2_002)
  expect(batches.findIndex((batch) => batch[0]?.table === 'others')).toBeLessThanOrEqual(2)
  expect(batches.at(-1)).toMatchObject([{ table: 'keyless' }])
})

test.each(OUTBOXES)('%s: two large transactions alternate', async (_, follow) => {
  const { write, deliverAll } = await start(follow)
  await write(insertMany('notes', 3_000))
  await write(insertMany('others', 3_000))
  const tables = (await deliverAll(6_000)).map((batch) => batch[0]?.table)
  expect(tables).toEqual(['notes', ...Array<string[]>(5).fill(['notes', 'others']).flat(), 'others'])
})

test('a connection that is lost in the middle neither loses nor repeats a change', async () => {
  const { write, deliverAll, batches, reconnected } = await start(followOutbox)
  await write(insertMany('notes', 3_000))
  await write(`update notes set body = 'later' where id = 2900`)
  await database.admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'alcove listener' and datname = current_database()`,
  )
  await database.admin.query(insertMany('others', 1_000))
  await reconnected.next()
  await database.admin.query(`insert into others values (0, 'after')`)
  const delivered = (await deliverAll(4_002)).flat()
  expect(new Set(delivered.map((change) => JSON.stringify(change)))).toHaveLength(4_002)
  expect(delivered.findIndex(({ isUpdate }) => isUpdate)).toBeGreaterThanOrEqual(2_900)
  await database.admin.query(`insert into others values (-1, 'mark')`)
  expect((await batches.next()).map(({ key }) => key)).toEqual([{ id: '-1' }])
})
