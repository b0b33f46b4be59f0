import { afterAll, expect, test } from 'vitest'
import type { Claims } from '#server/database/scope.ts'
import { createTestDatabase } from '#test/database.ts'
import { addReadDocument } from '#test/library.ts'
import { countCachedBytes } from './index/byte-cache.ts'
import { searchPassages } from './search.ts'

const PEOPLE = 150
const ACTIVE = 10

const db = await createTestDatabase()
afterAll(() => db.drop())

const searchAs = (person: Claims, about: string) =>
  db.database.asUser(person, (scope) => searchPassages(scope, `tide ${about}`, { limit: 5 }))

test('the memory of the index follows those who search, not those who have documents', async () => {
  const people = await Promise.all(Array.from({ length: PEOPLE }, () => db.createPerson()))
  const active = people.slice(0, ACTIVE)
  const addDocuments = async (owners: typeof people) => {
    for (const [index, person] of owners.entries())
      await addReadDocument(db.database, person, `${index}.txt`, [
        'The tide rose.',
        `The lamp of ${person.sub} is lit.`,
      ])
  }
  await addDocuments(active)
  for (const person of active) expect(await searchAs(person, 'lamp')).not.toEqual([])
  const ofActive = countCachedBytes()
  expect(ofActive).toBeGreaterThan(0)

  await addDocuments(people.slice(ACTIVE))
  for (const person of active) await searchAs(person, 'lamp')
  expect(countCachedBytes()).toBe(ofActive)
})
