/** Rows that benches insert directly follow every change of the schema. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillLists, fillMessages, withoutTriggers } from './growth-rows.ts'
import { type Library, openLibrary } from './library.ts'
import { ask } from './search.ts'

let library: Library
beforeAll(async () => {
  library = await openLibrary()
})
afterAll(() => library.close())

test('a library that is copied without triggers is searched as the one that it was copied from', async () => {
  const [from, to] = [await library.createPerson(), await library.createPerson()]
  await library.addDocument(from, 'harbour.txt', ['The lamp of the harbour was lit at nine.'])
  await withoutTriggers(library.admin, () => library.copyTo(from, to))
  const [original, copied] = await Promise.all(
    [from, to].map((person) => ask(library.database, person, 'When was the lamp lit?')),
  )
  expect(original?.map(({ filename, text }) => [filename, text])).toEqual([
    ['harbour.txt', 'The lamp of the harbour was lit at nine.'],
  ])
  expect(copied?.map(({ filename, text }) => [filename, text])).toEqual(
    original?.map(({ filename, text }) => [filename, text]),
  )
  expect(copied?.[0]?.documentId).not.toBe(original?.[0]?.documentId)
})

test('lists and messages are filled as their owner would see them', async () => {
  const person = await library.createPerson()
  await fillLists(library.admin, person.sub, 3)
  await fillMessages(library.admin, 100)
  const counted = await library.database.asUser(person, (scope) =>
    scope.query<{ conversations: number; documents: number; messages: number }>(
      `select (select count(*)::int from conversations) as conversations, (select count(*)::int from documents) as documents,
         (select count(*)::int from messages) as messages`,
    ),
  )
  expect(counted.rows[0]?.documents).toBe(3)
  expect(counted.rows[0]?.conversations).toBeGreaterThan(3)
  expect(counted.rows[0]?.messages).toBeGreaterThanOrEqual(100)
})
