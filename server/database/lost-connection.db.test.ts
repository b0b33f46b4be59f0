import { expect, test } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import { isConnectionFailure } from './errors.ts'

test('a connection that is lost in the middle of a transaction fails only that transaction', async () => {
  const { database, admin } = await temporaryDatabase()
  const others: Promise<unknown>[] = []
  const lost = database.asService(async (scope) => {
    const { rows } = await scope.query<{ pid: number }>('select pg_backend_pid() as pid')
    others.push(admin.query('select pg_terminate_backend($1)', [rows[0]?.pid]))
    await scope.query('select pg_sleep(30)')
  })
  await expect(lost).rejects.toSatisfy(isConnectionFailure)
  await Promise.all(others)
  expect((await database.asService((scope) => scope.query<{ one: number }>('select 1 as one'))).rows).toEqual([
    { one: 1 },
  ])
})

test('a connection that is lost while its transaction does other work does not end the process', async () => {
  const { database, admin } = await temporaryDatabase()
  const lost = database.asService(async (scope) => {
    const { rows } = await scope.query<{ pid: number }>('select pg_backend_pid() as pid')
    await admin.query('select pg_terminate_backend($1)', [rows[0]?.pid])
    for (let gone = false; !gone;) {
      const left = await admin.query('select from pg_stat_activity where pid = $1', [rows[0]?.pid])
      gone = left.rowCount === 0
    }
    await scope.query('select 1')
  })
  await expect(lost).rejects.toThrow()
  expect((await database.asService((scope) => scope.query<{ one: number }>('select 1 as one'))).rows).toEqual([
    { one: 1 },
  ])
})
