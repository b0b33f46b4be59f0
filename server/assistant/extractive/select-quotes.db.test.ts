import { afterAll, beforeAll, expect, test } from 'vitest'
import { searchPassages } from '#server/search/search.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { addReadDocument } from '#test/library.ts'
import { FOREIGN_REASON } from './judge-answer.ts'
import { numbered } from './quotable.ts'
import { type SelectedQuotes, selectQuotes } from './select-quotes.ts'

let test_: TestDatabase
beforeAll(async () => {
  test_ = await createTestDatabase()
})
afterAll(() => test_.drop())

const LEASE =
  'The lease of the mill in Alder Lane is signed by the owner, Ada Marsh, and began in 2021. The rent of the mill is 900 euro a month and is due on the third day. The tenant keeps the wheel in repair.'
const HAUSORDNUNG =
  'Die Hausordnung gilt für alle, die in der Wohnanlage wohnen. Die Kündigungsfrist beträgt drei Monate zum Ende eines Quartals. Der Müll wird am Dienstag abgeholt.'

async function select(library: Readonly<Record<string, string>>, question: string): Promise<SelectedQuotes> {
  const person = await test_.createPerson()
  for (const [name, page] of Object.entries(library)) await addReadDocument(test_.database, person, name, [page])
  return test_.database.asUser(person, async (scope) => {
    const passages = await searchPassages(scope, question)
    const found = passages.map((passage, index) => ({ n: index + 1, ...passage }))
    return selectQuotes(scope, question, { question, found, isWhole: false, parts: [], cited: [], isJudged: true })
  })
}

test.each([
  ['When did the lease of the mill begin?', 'lease.txt', LEASE],
  ['How much is the rent of the mill?', 'lease.txt', LEASE],
  ['Who signed the lease?', 'lease.txt', LEASE],
  ['Wie lang ist die Kündigungsfrist?', 'hausordnung.txt', HAUSORDNUNG],
  ['Wann wird der Müll abgeholt?', 'hausordnung.txt', HAUSORDNUNG],
])('"%s" is answered from a library of one short document', async (question, name, text) => {
  expect(await select({ [name]: text }, question)).toMatchObject({ answers: true })
})

test.each([
  ['What was the rent of the mill in 2012?', 'lease.txt', LEASE, 'the year 2012 does not occur there'],
  ['Who is the mayor of Alder Lane?', 'lease.txt', LEASE, '“mayor” does not occur there'],
  ['How much is the rent of the mill in Denver?', 'lease.txt', LEASE, '“denver” does not occur there'],
  ['Was kostet die Reinigung der Wohnanlage?', 'hausordnung.txt', HAUSORDNUNG, 'no amount of money is given there'],
])('"%s" is answered by nothing: the nearest passages and the reason', async (question, name, text, reason) => {
  const { quotes, ...judgement } = await select({ [name]: text }, question)
  expect(judgement).toEqual({ answers: false, reason })
  expect(quotes.length).toBeGreaterThan(0)
  expect(quotes.every(({ score }) => score === 0)).toBe(true)
})

test.each([
  [
    'is answered where one of its parts is',
    ['How much is the rent of the mill?', 'Who is the mayor of Alder Lane?'],
    true,
  ],
  ['is refused where none is', ['Who is the mayor of Alder Lane?', 'What was the rent of the mill in 2012?'], false],
])('a question with parts %s', async (_, asked, answers) => {
  const person = await test_.createPerson()
  await addReadDocument(test_.database, person, 'lease.txt', [LEASE])
  const selected = await test_.database.asUser(person, async (scope) => {
    const found = numbered(await searchPassages(scope, asked.join(' ')))
    const parts = asked.map((query) => ({ query, passages: found }))
    const question = asked.join(' ')
    return selectQuotes(scope, question, { question, found, isWhole: false, parts, cited: [], isJudged: true })
  })
  expect(selected.answers).toBe(answers)
  expect(selected.quotes.length).toBeGreaterThan(0)
})

test('a follow-up without words of its own is answered with those of the question before', async () => {
  const person = await test_.createPerson()
  await addReadDocument(test_.database, person, 'lease.txt', [LEASE])
  const query = 'Why?\nWhen did the lease of the mill begin?'
  const selected = await test_.database.asUser(person, async (scope) => {
    const found = numbered(await searchPassages(scope, query))
    return selectQuotes(scope, query, {
      question: 'Why?',
      found,
      isWhole: false,
      parts: [],
      cited: [],
      isJudged: false,
    })
  })
  expect(selected.quotes.length).toBeGreaterThan(0)
})

test('a question in a language that shares no word with the documents says so', async () => {
  const selected = await select({ 'lease.txt': LEASE }, 'Wann wird der Abfall abgeholt und wie lange ist die Frist?')
  expect(selected).toEqual({ quotes: [], answers: false, reason: FOREIGN_REASON })
})

test.each([
  ['Which Diffie-Hellman groups does the router support?', true],
  ['Which World Health Organization rules does the router follow?', true],
  ['Which Merkle-Damgard groups does the router support?', false],
])('"%s": a name may stand as its initials', async (question, answers) => {
  const router = 'The router supports DH groups 14 and 19 for the exchange of keys. It follows the WHO rules of 2019.'
  expect(await select({ 'router.txt': router }, question)).toMatchObject({ answers })
})
