import pg from 'pg'
import { expect, test } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import { migrate } from './migrate.ts'

test('rejects a database that is newer than the code and changes nothing', async () => {
  const { admin, adminConnection } = await temporaryDatabase()
  await admin.query(`insert into alcove_migrations.applied (name, checksum) values ('product/9999_future.sql', 'x')`)
  await expect(migrate(adminConnection, { authenticatorPassword: 'unused' })).rejects.toThrow(
    /newer than this Alcove.*9999_future/,
  )
})

test('rejects a migration that was altered after it was applied', async () => {
  const { admin, adminConnection } = await temporaryDatabase()
  await admin.query(`update alcove_migrations.applied set checksum = 'x' where name = 'product/0001_conversations.sql'`)
  await expect(migrate(adminConnection, { authenticatorPassword: 'unused' })).rejects.toThrow(
    /0001_conversations.sql differs/,
  )
})

test('two servers that start at once on an empty database both succeed', async () => {
  const { admin, adminConnection } = await temporaryDatabase()
  const name = `${String(adminConnection.database)}_empty`
  await admin.query(`create database ${name}`)
  const empty = { ...adminConnection, database: name }
  await Promise.all([
    migrate(empty, { authenticatorPassword: 'authenticator-of-the-tests' }),
    migrate(empty, { authenticatorPassword: 'authenticator-of-the-tests' }),
  ])
  const client = new pg.Client(empty)
  await client.connect()
  const applied = await client.query<{ count: number }>(
    'select count(*)::int as count, count(distinct name)::int as names from alcove_migrations.applied',
  )
  expect(applied.rows[0]?.count).toBeGreaterThan(8)
  await client.end()
  await admin.query(`drop database ${name}`)
})
