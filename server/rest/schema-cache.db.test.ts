import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { openListener } from '#server/database/listen.ts'
import type { Database } from '#server/database/scope.ts'
import { temporaryDatabase } from '#test/database.ts'
import { THINGS_SQL } from '#test/rest-service.ts'
import { createSchemaCache } from './schema-cache.ts'

test('reads tables, keys, defaults, types and functions of exposed schemas only', async () => {
  const { database, admin } = await temporaryDatabase()
  await admin.query(THINGS_SQL)
  const catalogue = await createSchemaCache({ database }).current()
  const things = catalogue.relation('public', 'things')
  expect(things?.primaryKey).toEqual(['id'])
  expect(things?.uniqueKeys).toEqual([['owner', 'name']])
  expect([...(things?.computed.keys() ?? [])]).toEqual(['shout'])
  expect(things?.columns.get('feeling')).toEqual({
    name: 'feeling',
    type: 'public.mood',
    fallback: `'ok'::public.mood`,
  })
  expect(things?.columns.get('id')?.fallback).toContain('things_id_seq')
  expect(things?.columns.get('fixed')?.type).toBe('bpchar')
  expect(catalogue.routines('public', 'add')).toMatchObject([
    {
      returns: 'scalar',
      parameters: [
        { name: 'a', type: 'integer', isRequired: true },
        { name: 'b', type: 'integer', isRequired: false },
      ],
    },
  ])
  expect(catalogue.relation('other', 'notes')).toBeUndefined()
  expect(catalogue.relation('auth', 'users')).toBeUndefined()
  expect(catalogue.typeToSql('INT')).toBe('int')
  expect(catalogue.typeToSql('mood')).toBe('"public"."mood"')
  expect(catalogue.typeToSql('anyelement')).toBeUndefined()
})

test('reads once for many callers, and again after a reload notification', async () => {
  const { database, admin, connection } = await temporaryDatabase()
  const listener = await openListener(connection, createLog('silent'))
  let readings = 0
  const counted: Database = {
    ...database,
    asService(run, options) {
      readings += 1
      return database.asService(run, options)
    },
  }
  const cache = createSchemaCache({ database: counted, listener })
  expect(readings).toBe(0)
  const [one, two] = await Promise.all([cache.current(), cache.current()])
  expect(one).toBe(two)
  expect(await cache.refresh()).toBe(one)
  expect(readings).toBe(1)

  await admin.query('create table made (id integer)')
  const told = new Promise<void>((resolve) => void listener.on('pgrst', () => resolve()))
  await admin.query(`notify pgrst, 'reload config'`)
  await admin.query(`notify pgrst, 'reload schema'`)
  await told
  await vi.waitUntil(async () => (await cache.current()) !== one)
  expect((await cache.current()).relation('public', 'made')).toBeDefined()
  expect(readings).toBe(2)
  await listener.close()
})

test('retries after a failed read', async () => {
  const { database, adminConnection } = await temporaryDatabase()
  const elsewhere = new pg.Client({ ...adminConnection, database: 'postgres' })
  await elsewhere.connect()
  const allow = (isAllowed: boolean) =>
    elsewhere.query(`alter database ${String(adminConnection.database)} with allow_connections ${isAllowed}`)
  await allow(false)
  const cache = createSchemaCache({ database })
  await expect(cache.current()).rejects.toThrow('not currently accepting connections')
  await allow(true)
  await elsewhere.end()
  expect((await cache.current()).relation('public', 'conversations')).toBeDefined()
})
