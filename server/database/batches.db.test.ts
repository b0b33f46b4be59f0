import { expect, test } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import { deleteInBatches, inBatch } from './batches.ts'

test('a sweep deletes what fits its condition, in several statements that each find their rows by address', async () => {
  const { admin } = await temporaryDatabase()
  await admin.query('create table rows as select n from generate_series(1, 12000) n')
  const statement = `delete from rows where ${inBatch('rows where n > 1')}`
  const { rows: plan } = await admin.query<{ 'QUERY PLAN': string }>(`explain ${statement}`)
  expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain('Tid Scan on rows')
  const deleted: (number | null)[] = []
  await deleteInBatches(async () => {
    const result = await admin.query(statement)
    deleted.push(result.rowCount)
    return result
  })
  expect(deleted).toEqual([5000, 5000, 1999])
  expect((await admin.query('select n from rows')).rows).toEqual([{ n: 1 }])
})

test('a row that is updated meanwhile is left for the next sweep', async () => {
  const { admin } = await temporaryDatabase()
  await admin.query('create table rows as select 1 as n, false as is_used')
  const other = await admin.connect()
  await other.query('begin; update rows set is_used = true')
  const deleting = admin.query(`delete from rows where ${inBatch('rows where not is_used')}`)
  const isBlocked = async () =>
    (await admin.query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`))
      .rowCount
  await expect.poll(isBlocked, { interval: 20 }).toBe(1)
  await other.query('commit')
  other.release()
  expect((await deleting).rowCount).toBe(0)
})
