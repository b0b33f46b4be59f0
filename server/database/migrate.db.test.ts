import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
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

test('says which changes it makes to a database of an earlier version, and nothing at the first start', async () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const { admin, adminConnection } = await temporaryDatabase()
  const options = { authenticatorPassword: inject('postgres').authenticatorPassword, log }
  await migrate(adminConnection, options)
  expect(lines).toEqual([])
  await admin.query(`
    drop function tg_own_providers__limit, tg_tool_servers__limit, tg_user_settings__limit, tg_tool_consents__limit cascade;
    delete from alcove_migrations.applied where name = 'product/0047_limits_of_settings.sql'`)
  await migrate(adminConnection, options)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('"migration":"product/0047_limits_of_settings.sql"')
  const name = `${String(adminConnection.database)}_first`
  await admin.query(`create database ${name}`)
  await migrate({ ...adminConnection, database: name }, options)
  await admin.query(`drop database ${name}`)
  expect(lines).toHaveLength(1)
})

test('two servers that start at once on an empty database both succeed', async () => {
  const { admin, adminConnection } = await temporaryDatabase()
  const name = `${String(adminConnection.database)}_empty`
  await admin.query(`create database ${name}`)
  const empty = { ...adminConnection, database: name }
  await Promise.all([
    migrate(empty, { authenticatorPassword: inject('postgres').authenticatorPassword }),
    migrate(empty, { authenticatorPassword: inject('postgres').authenticatorPassword }),
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
