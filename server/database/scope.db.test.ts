import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { temporaryDatabase } from '#test/database.ts'
import { type ApiRole, openDatabase, type Scope } from './scope.ts'

const WHO = `select current_user as role, auth.uid() as uid, current_setting('request.method', true) as method`

/** A pool of one connection, so that whatever stays behind meets the next caller. */
async function openNarrowDatabase() {
  const temporary = await temporaryDatabase()
  const database = openDatabase({ ...temporary.connection, max: 1 }, createLog('silent'))
  onTestFinished(() => database.close())
  return { database, createPerson: () => temporary.createPerson() }
}

const who = async (scope: Scope) =>
  (await scope.query<{ role: string; uid: string | null; method: string | null }>(WHO)).rows[0]

test('nothing of one caller meets the next on the same connection, not even after a failure', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const [first, second] = [await createPerson(), await createPerson()]
  const settings = { 'request.method': 'POST' }
  expect(await database.asUser(first, who, { settings })).toEqual({
    role: 'authenticated',
    uid: first.sub,
    method: 'POST',
  })
  await expect(database.asUser(first, (scope) => scope.query('select 1 / 0'), { settings })).rejects.toThrow(
    'division by zero',
  )
  expect(await database.asUser(second, who)).toEqual({ role: 'authenticated', uid: second.sub, method: '' })
  expect(await database.asUser({ role: 'anon' }, who)).toMatchObject({ role: 'anon', uid: null })
  expect(await database.asService(who)).toMatchObject({ role: 'service_role', uid: null })
})

test('two callers at once each see themselves', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const people = await Promise.all(Array.from({ length: 6 }, () => createPerson()))
  const seen = await Promise.all(people.map((person) => database.asUser(person, who)))
  expect(seen.map((row) => row?.uid)).toEqual(people.map(({ sub }) => sub))
})

test('runs nothing where the role cannot be taken', async () => {
  const { database } = await openNarrowDatabase()
  const table = `t_${randomUUID().replaceAll('-', '')}`
  await expect(
    database.asUser({ role: 'postgres' as ApiRole }, (scope) => scope.query(`create table public.${table} ()`)),
  ).rejects.toThrow(/permission denied to set role/)
  const found = await database.asService((scope) => scope.query('select to_regclass($1) as made', [`public.${table}`]))
  expect(found.rows).toEqual([{ made: null }])
})

test('a single statement as the service commits, or leaves nothing behind', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const { sub } = await createPerson()
  const insert = `insert into conversations (uid, model_name) values ($1, 'm') returning current_user as role`
  expect((await database.serviceStatement(insert, [sub])).rows).toEqual([{ role: 'service_role' }])
  await expect(database.serviceStatement(insert, [randomUUID()])).rejects.toMatchObject({ code: '23503' })
  const counted = await database.serviceStatement('select count(*) from conversations')
  expect(counted.rows).toEqual([{ count: 1 }])
})

test('a reading scope refuses to write', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const person = await createPerson()
  const write = (scope: Scope) => scope.query(`insert into conversations (model_name) values ('m')`)
  await expect(database.asUser(person, write, { readOnly: true })).rejects.toMatchObject({ code: '25006' })
})
