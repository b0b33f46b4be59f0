import { beforeEach, expect, test } from 'vitest'
import { READER_MODEL } from '#contract/product-names.ts'
import { openTestAssistant, type Person } from '#test/assistant.ts'
import { addReadDocument } from '#test/library.ts'

const { db, stub, assistant } = await openTestAssistant()
let person: Person

beforeEach(async () => {
  person = await db.createPerson()
  await assistant.startWorker()
})

async function answerOf(words: string, question: string, model?: string) {
  await stub.configure({ words })
  const conversationId = await assistant.startConversation(person, model === undefined ? {} : { model })
  const { until } = await assistant.watch(conversationId)
  await assistant.ask(person, conversationId, question)
  await until('done')
  const answer = (await assistant.messagesIn(person, conversationId)).at(-1)
  return { content: answer?.content, metadata: answer?.metadata ?? {} }
}

const addLease = () =>
  addReadDocument(db.database, person, 'lease.pdf', ['The notice period is three months. The deposit is two rents.'])

test('quotations that are not in their source are stored with the answer', async () => {
  await addLease()
  const { content, metadata } = await answerOf(
    'It is "three months" [1], and “the deposit is\nfive rents” [1]. Nobody [7] says "more".\n\n> The notice period is one week. [1]',
    'How long is the notice period?',
  )
  expect(content).not.toContain('[7]')
  expect(metadata.misquotes).toEqual(['the deposit is five rents', 'The notice period is one week. [1]'])
  expect(metadata).not.toHaveProperty('unsupported')
})

test('an answer without citations is marked unsupported', async () => {
  await addLease()
  const { metadata } = await answerOf('Three months, as everywhere.', 'How long is the notice period?')
  expect(metadata.unsupported).toBe(true)
})

test('a person without documents is not told that an answer is unsupported', async () => {
  const { metadata } = await answerOf('Hello.', 'Hello?')
  expect(metadata).not.toHaveProperty('unsupported')
})

test('the extractive answerer neither misquotes nor makes claims', async () => {
  await addLease()
  const { metadata } = await answerOf('', 'How long is the notice period?', READER_MODEL)
  expect(metadata.sources).toHaveLength(1)
  expect(metadata).not.toHaveProperty('misquotes')
  expect(metadata).not.toHaveProperty('unsupported')
})

test('a quotation from a whole document is searched in its full text', async () => {
  await addReadDocument(db.database, person, 'log.txt', [`${'The tide rose. '.repeat(60)}Then the lamp went out.`])
  const { metadata } = await answerOf(
    'It ends with "then the lamp went out" [1] and "then it was lit" [1].',
    'Summarise log.txt',
  )
  expect(metadata.trace?.scope).toBe('whole')
  expect(metadata.misquotes).toEqual(['then it was lit'])
})

test('the steps of an answer are stored with their durations', async () => {
  await addLease()
  const { metadata } = await answerOf('Three months [1].', 'How long is the notice period?')
  expect(metadata.steps?.map(({ name }) => name)).toEqual(['found', 'begun', 'written', 'checked'])
})
