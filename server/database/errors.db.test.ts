import { expect, test } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import { mayBeCommitted, toAppError } from './errors.ts'
import { openDatabase } from './open-database.ts'
import { createLog } from '#server/base/log.ts'

test.each([
  [`insert into models (name, version, model_identifier, provider, family, context_window) values ('a', '1', 'alcove-reader', 'p', 'f', 1)`, 'conflict'],
  [`insert into messages (conversation_id, content, sender_role) values (gen_random_uuid(), 'x', 1)`, 'conflict'],
  [`insert into conversations (uid) values (null)`, 'bad_request'],
  [`insert into models (name, version, model_identifier, provider, family, context_window) values ('a', '1', 'x', 'p', 'f', 0)`, 'bad_request'],
  [`select 'x'::uuid`, 'bad_request'],
  [`select 1 / 0`, 'bad_request'],
  [`select * from auth.users`, 'forbidden'],
  [`do $$ begin raise exception using errcode = '40001'; end $$`, 'unavailable'],
  [`do $$ begin raise exception using errcode = '53300'; end $$`, 'unavailable'],
  [`do $$ begin raise exception using errcode = '53400'; end $$`, 'too_large'],
  [`do $$ begin raise exception using errcode = '57P01'; end $$`, 'unavailable'],
])('%s becomes %s', async (sql, code) => {
  const { database } = await temporaryDatabase()
  const error: unknown = await database.asService((scope) => scope.query(sql)).catch((thrown: unknown) => thrown)
  const told = toAppError(error)
  expect(told).toMatchObject({ name: 'AppError', code, cause: error })
}) // prettier-ignore

test('returns a fault of ours unchanged', async () => {
  const { database } = await temporaryDatabase()
  const error: unknown = await database.asService((scope) => scope.query('selekt')).catch((thrown: unknown) => thrown)
  expect(toAppError(error)).toBe(error)
  const bug = new TypeError('x is undefined')
  expect(toAppError(bug)).toBe(bug)
})

test('an unreachable database is unavailable', async () => {
  const { database: nowhere, close } = openDatabase({ host: '127.0.0.1', port: 1 }, createLog('silent'))
  const error: unknown = await nowhere.asService((scope) => scope.query('select 1')).catch((thrown: unknown) => thrown)
  expect(toAppError(error)).toMatchObject({ code: 'unavailable', cause: error })
  await close()
})

test('so is one whose name has several addresses, and nothing was written to it', () => {
  const refused = (address: string) =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED', syscall: 'connect' })
  const error = Object.assign(new AggregateError([refused('::1:5432'), refused('127.0.0.1:5432')]), {
    code: 'ECONNREFUSED',
  })
  expect(toAppError(error)).toMatchObject({ code: 'unavailable', cause: error })
  expect(mayBeCommitted(error)).toBe(false)
})
