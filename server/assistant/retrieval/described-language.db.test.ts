import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseCommands } from '#server/assistant/tools/commands.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { addReadDocument } from '#test/library.ts'
import { findDescribedDocuments } from './described-language.ts'
import { findPassages } from './find-passages.ts'

let test_: TestDatabase
beforeAll(async () => {
  test_ = await createTestDatabase()
})
afterAll(() => test_.drop())

const LIBRARY = {
  'lease.txt': 'The lease of the mill is signed by the owner and it began in the year after the flood.',
  'notes.txt': 'The wheel of the mill was repaired by the tenant, who paid for it and was given a receipt.',
  '계약서.txt': '임대차 계약은 2021년에 시작되었다. 임대료는 매월 3일에 지급한다.',
  '規約.txt': 'この建物の規約は、すべての居住者に適用されます。ごみは火曜日に出してください。',
  'przeglad.txt': 'Przegląd młyna odbył się w maju. Koło jest w dobrym stanie, a dach trzeba naprawić w tym roku.',
}

async function describe(asker: 'owner' | 'other', question: string): Promise<string[]> {
  const [owner, other] = [await test_.createPerson(), await test_.createPerson()]
  const names = new Map<string, string>()
  for (const [name, text] of Object.entries(LIBRARY))
    names.set((await addReadDocument(test_.database, owner, name, [text])).documentId, name)
  const ids = await test_.database.asUser(asker === 'owner' ? owner : other, (scope) =>
    findDescribedDocuments(scope, question),
  )
  return ids.map((id) => names.get(id) ?? id)
}

test.each([
  ['When does the Korean contract begin?', ['계약서.txt']],
  ['On which day is the waste collected according to the Japanese rules?', ['規約.txt']],
  ['Was sagt der polnische Bericht über das Dach?', ['przeglad.txt']],
  ['When does the English lease begin?', ['lease.txt', 'notes.txt']],
  ['When does the Italian lease begin?', []],
  ['When does the lease begin?', []],
])('"%s" is about %j', async (question, names) => {
  expect((await describe('owner', question)).toSorted()).toEqual(names)
})

test('the documents of another person are not found', async () => {
  expect(await describe('other', 'When does the Korean contract begin?')).toEqual([])
})

test.each([true, false])(
  'their passages come first, though others hold more of the words (quoted: %s)',
  async (onlyQuotes) => {
    const person = await test_.createPerson()
    for (const [name, text] of Object.entries(LIBRARY)) await addReadDocument(test_.database, person, name, [text])
    const { passages } = await test_.database.asUser(person, (scope) =>
      findPassages(scope, parseCommands('When does the lease of the Korean mill begin?'), {
        onlyQuotes,
        chosen: [],
        earlierQuestions: [],
        turnsInPrompt: { conversationId: randomUUID(), after: 0 },
        hasDocuments: true,
        contextWindow: 32_000,
        room: 20_000,
        embedder: null,
      }),
    )
    expect(passages.map(({ filename }) => filename).slice(0, 2)).toEqual(['계약서.txt', 'lease.txt'])
  },
)
