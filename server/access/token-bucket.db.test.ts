import { expect, test } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import { type Bucket, refundAttempt, takeAttempt } from './token-bucket.ts'

const bucket = (key: string, capacity: number, refillPerS = 0.001): Bucket => ({ key, capacity, refillPerS })

test('concurrent attempts on several connections get no more than the bucket holds', async () => {
  const { database } = await temporaryDatabase()
  const taken = await Promise.all(
    Array.from({ length: 30 }, () =>
      database.asAuth((scope) => takeAttempt(scope, [bucket('a', 7), bucket('b', 100)])),
    ),
  )
  expect(taken.filter((refusal) => refusal === undefined)).toHaveLength(7)
  expect(taken.find((refusal) => refusal !== undefined)).toMatchObject({ key: 'a' })
})

test('a rejection says when to retry, and the bucket refills over time', async () => {
  const { database, admin } = await temporaryDatabase()
  const take = () => database.asAuth((scope) => takeAttempt(scope, [bucket('a', 2, 0.1)]))
  expect([await take(), await take()]).toEqual([undefined, undefined])
  expect(await take()).toEqual({ key: 'a', retryAfterS: 10 })
  await admin.query(`update auth.rate_limits set updated_at = updated_at - interval '11 seconds'`)
  expect(await take()).toBeUndefined()
  expect(await take()).toMatchObject({ key: 'a' })
  await admin.query(`update auth.rate_limits set updated_at = updated_at - interval '1 day'`)
  expect([await take(), await take(), (await take())?.key]).toEqual([undefined, undefined, 'a'])
})

test('a refunded attempt can be made again, once', async () => {
  const { database } = await temporaryDatabase()
  const take = () => database.asAuth((scope) => takeAttempt(scope, [bucket('a', 1)]))
  await take()
  await database.asAuth((scope) => refundAttempt(scope, 'a'))
  expect(await take()).toBeUndefined()
  expect(await take()).toBeDefined()
})

test('only the auth service reads or writes the buckets', async () => {
  const created = await temporaryDatabase()
  const { database } = created
  const person = await created.createPerson()
  for (const table of [
    'rate_limits',
    'local_mails',
    'test_accounts',
    'one_time_tokens',
    'refresh_tokens',
    'sessions',
    'users',
  ]) {
    await expect(database.asUser(person, (scope) => scope.query(`select from auth.${table}`))).rejects.toThrow(/denied/)
    await expect(database.asService((scope) => scope.query(`select from auth.${table}`))).rejects.toThrow(/denied/)
  }
})
