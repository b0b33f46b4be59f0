import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { READER_MODEL } from '#contract/product-names.ts'
import type { TurnsInPrompt } from '#server/conversations/earlier-message-queries.ts'
import type { Person } from '#test/assistant.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { addReadDocument } from '#test/library.ts'
import { searchEarlierMessages } from './earlier-messages.ts'

let db: TestDatabase
let person: Person

beforeAll(async () => {
  db = await createTestDatabase()
})
beforeEach(async () => {
  person = await db.createPerson()
})
afterAll(() => db.drop())

const ELSEWHERE: TurnsInPrompt = { conversationId: randomUUID(), after: 0 }

async function converse(owner: Person, turns: readonly string[], metadata = {}) {
  const conversationId = randomUUID()
  await db.admin.query(`insert into conversations (id, uid, model_name, title) values ($1, $2, 'm', 'The house')`, [
    conversationId,
    owner.sub,
  ])
  const positions: number[] = []
  for (const [index, content] of turns.entries()) {
    const { rows } = await db.admin.query<{ position: string }>(
      'insert into messages (conversation_id, content, sender_role, metadata) values ($1, $2, $3, $4) returning position',
      [conversationId, content, 1 + (index % 2), index % 2 === 1 ? JSON.stringify(metadata) : '{}'],
    )
    positions.push(Number(rows[0]?.position))
  }
  return { conversationId, positions }
}

const find = (question: string, { turnsInPrompt = ELSEWHERE, limit = 3, asker = person } = {}) =>
  db.database.asUser(asker, (scope) => searchEarlierMessages(scope, question, { turnsInPrompt, limit }))
const textsOf = async (...given: Parameters<typeof find>) => (await find(...given)).messages.map(({ text }) => text)

test('earlier messages are found by other word forms, with their conversation and without citation markers', async () => {
  const { conversationId, positions } = await converse(person, [
    'What did we decide?',
    'You chose Prussian blue for the shutters [1], and white for the door [2][3].',
  ])
  const { messages, considered } = await find('Which colour has a shutter?')
  expect(messages).toMatchObject([
    {
      conversationId,
      position: positions[1],
      title: 'The house',
      senderRole: 2,
      text: 'You chose Prussian blue for the shutters, and white for the door.',
    },
  ])
  expect(considered.map(({ cut }) => cut)).toEqual([null])
})

test.each([
  ['la fianza del contrato', 'Acordamos que la fianza del contrato sería de dos meses.'],
  ['合同的押金', '我们说好合同的押金是两个月租金。'],
  ['договор аренды', 'В договоре аренды указан срок три месяца.'],
  ['party library', 'The libraries host both parties in spring.'],
])('%s finds "%s"', async (question, said) => {
  await converse(person, ['Something else entirely.', 'Nothing about it.', said])
  expect(await textsOf(question)).toEqual([said])
})

test('answers rank before questions; repeated questions and passing mentions are left out', async () => {
  const question = 'How high is the monthly deposit of the garage?'
  const other = 'Is a deposit for the garage usual?'
  await converse(person, [
    other,
    'For the garage the deposit is two rents.',
    `@knowledge ${question}`,
    'Yes.',
    'The garage is green.',
  ])
  expect(await textsOf(question)).toEqual(['For the garage the deposit is two rents.', other])
})

test('the fitting passage of a long message is found once, even if the message is repeated', async () => {
  const long = `${'The roof was mended by the carpenter in summer. '.repeat(40)}\n\nThe chimney sweep comes on the ninth of March.\n\n${'The cellar is damp in winter. '.repeat(60)}`
  await converse(person, ['When does he come?', long, 'Once more?', long])
  const { messages, considered } = await find('chimney sweep')
  expect(messages).toHaveLength(1)
  expect(messages[0]?.text).toContain('ninth of March')
  expect(messages[0]?.text.length).toBeLessThan(1_500)
  expect(considered.map(({ cut }) => cut)).toEqual([null, 'copy'])
})

test('turns in the prompt are not sources, older turns of the same conversation are', async () => {
  const { conversationId, positions } = await converse(person, [
    'The key of the cellar hangs behind the clock.',
    'Noted.',
    'The key of the attic lies under the mat.',
    'Noted as well.',
  ])
  const after = (index: number) => ({ turnsInPrompt: { conversationId, after: positions[index] ?? 0 } })
  expect(await textsOf('where is the key', after(1))).toEqual(['The key of the cellar hangs behind the clock.'])
  expect(await textsOf('where is the key', { turnsInPrompt: { conversationId, after: 0 } })).toEqual([])
})

test('neither failures nor extractive answers are found', async () => {
  await converse(person, ['Hello', 'The lighthouse keeper sleeps by day.'], { error: { code: 'x' } })
  await converse(person, ['Hello', 'A lighthouse keeper sleeps by day.'], { model: READER_MODEL })
  expect(await textsOf('lighthouse keeper')).toEqual([])
})

test('another person and an anonymous caller find nothing', async () => {
  await addReadDocument(db.database, person, 'a.txt', ['The xylophone is in the attic.'])
  await converse(person, ['The xylophone belongs to grandmother.', 'Noted.'])
  const second = await db.createPerson()
  await converse(second, ['A xylophone of my own.', 'Noted.'])
  expect(await textsOf('the xylophone of grandmother', { asker: second })).toEqual(['A xylophone of my own.'])
  await expect(
    db.database.asUser({ role: 'anon' }, (scope) =>
      searchEarlierMessages(scope, 'xylophone', { turnsInPrompt: ELSEWHERE, limit: 3 }),
    ),
  ).rejects.toMatchObject({ code: '42501' })
})
