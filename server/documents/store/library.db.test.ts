import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import { newestVersions } from './library.ts'

test('a superseded version resolves to the newest version that was read, and never to a document of another person', async () => {
  const created = await temporaryDatabase()
  const { admin, database } = created
  const [owner, stranger] = [await created.createPerson(), await created.createPerson()]
  const series = randomUUID()
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()]
  for (const [id, version, state, superseded] of [
    [first, 1, 'ready', new Date()],
    [second, 2, 'ready', null],
    [third, 3, 'reading', null],
  ])
    await admin.query(
      `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, series, version, state, superseded_at)
       values ($1, $2, 'a.txt', 'a.txt', 'text/plain', 1, gen_random_uuid(), gen_random_uuid(), $3, $4, $5, $6)`,
      [id, owner.sub, series, version, state, superseded],
    )
  const unknown = randomUUID()
  const found = await database.asUser(owner, (scope) => newestVersions(scope, [first, second, unknown]))
  expect(found.toSorted()).toEqual([second, unknown].toSorted())
  expect(await database.asUser(stranger, (scope) => newestVersions(scope, [first]))).toEqual([first])
})
