import { afterAll, beforeAll, expect, test } from 'vitest'
import { searchPassages } from '#server/search/search.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { addReadDocument } from '#test/library.ts'
import { chooseQuotes } from './choose-quotes.ts'
import { prepareCandidates } from './quote-candidates.ts'

let test_: TestDatabase
beforeAll(async () => {
  test_ = await createTestDatabase()
})
afterAll(() => test_.drop())

const GUIDE = [
  'Die Hausordnung gilt für alle, die in der Wohnanlage wohnen. Sie ist ein Teil des Vertrags und wird mit ihm unterschrieben.',
  'Die Kündigungsfrist beträgt drei Monate zum Ende eines Quartals. Eine Kündigung ist nur schriftlich gültig.',
  'Der Müll wird am Dienstag abgeholt. Die Tonnen werden am Abend davor an die Straße gestellt und danach zurückgebracht.',
]
const MANUAL = [
  'The boiler is serviced once a year. The landlord pays for the service and for all of the parts that are replaced.',
  'Bicycles are kept in the cellar, and not in the stairwell, which is to be free for the fire brigade at all times.',
]

async function quote(library: Readonly<Record<string, readonly string[]>>, question: string): Promise<string[]> {
  const person = await test_.createPerson()
  for (const [name, pages] of Object.entries(library)) await addReadDocument(test_.database, person, name, pages)
  return test_.database.asUser(person, async (scope) => {
    const found = await searchPassages(scope, question)
    const sources = found.map(({ heading: _, ...passage }, index) => ({ n: index + 1, ...passage }))
    return chooseQuotes(await prepareCandidates(scope, question, sources)).map(({ text }) => text)
  })
}

const MIXED = 'What is the notice period for the whole apartment, und wie lang ist die Kündigungsfrist?'

test.each([
  ['the documents are in one of them', { 'hausordnung.txt': GUIDE }],
  ['there are documents in each of them', { 'hausordnung.txt': GUIDE, 'manual.txt': MANUAL }],
])('answers a question in two languages where %s', async (_, library) => {
  const [first] = await quote(library, MIXED)
  expect(first).toContain('drei Monate zum Ende eines Quartals')
})

test('finds no quotes in two languages where the documents are about something else', async () => {
  const question = 'What is the vitamin content of fresh broccoli, und wie viel Eisen ist in rohem Spinat enthalten?'
  expect(await quote({ 'hausordnung.txt': GUIDE, 'manual.txt': MANUAL }, question)).toEqual([])
})

test('answers a French question with inverted verb and pronoun', async () => {
  const visas = [
    'Les visas sont délivrés par le consulat. Pour des séjours de plus de 90 jours en France, le visa à solliciter est un visa de long séjour.',
  ]
  const quotes = await quote({ 'visas.txt': visas }, 'Quel visa faut-il pour rester trois mois en France ?')
  expect(quotes[0]).toContain('visa de long séjour')
})

test('distinguishes a running title from the text of the pages', async () => {
  const head = (page: number) => `${page} THE LAMP OF THE NORTH`
  const book = [
    `${head(1)}\nIt was built on the hill above the town, and nobody knows when.`,
    `${head(2)}\nIts keeper came every evening at six. He went home at dawn.`,
    `${head(3)}\nThe lamp was lit for the last time in May, when the north was at war.`,
  ]
  const [first] = await quote({ 'book.txt': book }, 'When was the lamp of the north lit for the last time?')
  expect(first).toBe('The lamp was lit for the last time in May, when the north was at war.')
})

test.each([
  [
    '电梯什么时候开始维修？',
    '各位住户：从三月一日起，本楼电梯将关闭维修。',
    '如有问题，请于每星期二上午九点向门卫询问。',
  ],
  [
    '電梯從什麼時候開始維修？',
    '各位住戶：從三月一日起，本樓電梯將關閉維修。',
    '如有問題，請於每星期二上午九點向門衛詢問。',
  ],
  [
    'エレベーターはいつから使えなくなりますか。',
    'エレベーターは三月一日から使えなくなります。',
    '家具の搬入は管理人に連絡してください。',
  ],
])('answers "%s", most of which asks', async (question, answer, other) => {
  const [first] = await quote({ 'notice.txt': [`${other}\n\n${answer}`] }, question)
  expect(first).toContain(answer)
})
