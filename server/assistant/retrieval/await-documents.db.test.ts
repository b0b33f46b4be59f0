import { beforeEach, expect, test } from 'vitest'
import { READER_MODEL } from '#contract/product-names.ts'
import { READING_STEP, type ReplyPart } from '#contract/reply-events.ts'
import { stopReply } from '#server/conversations/reply-queries.ts'
import { openTestAssistant, type Person, STUB_MODEL, type Watched } from '#test/assistant.ts'
import { addReadDocument, addUnreadDocument, finishReading } from '#test/library.ts'

const { db, stub, assistant } = await openTestAssistant()
const { database } = db
const LEASE = ['The notice period is three months. The deposit is two rents.']
const NAMED = '@knowledge lease.pdf How long is the notice period?'
let person: Person

beforeEach(async () => {
  person = await db.createPerson()
  await stub.configure({ words: 'Three months [1].' })
})

const steps = (parts: readonly ReplyPart[]) =>
  parts.flatMap(({ tool }) => (tool?.name === READING_STEP ? [tool.status] : []))

async function asked(question: string, given?: { model: string }): Promise<Watched & { conversationId: string }> {
  const conversationId = await assistant.startConversation(person, given)
  const watched = await assistant.watch(conversationId)
  await assistant.ask(person, conversationId, question)
  return { ...watched, conversationId }
}

async function metadataOf(conversationId: string) {
  return (await assistant.answersIn(person, conversationId)).at(-1)?.metadata
}

test('the answer waits for the named document and is based on it', async () => {
  await assistant.startWorker()
  await addReadDocument(database, person, 'other.txt', ['The tide rose.'])
  const lease = await addUnreadDocument(database, person, 'lease.pdf')
  const { until, conversationId } = await asked(NAMED)
  expect(steps(await until('tool'))).toEqual(['running'])
  await finishReading(database, lease, LEASE)
  expect(steps(await until('done'))).toEqual(['running', 'done'])
  const metadata = await metadataOf(conversationId)
  expect(metadata?.sources).toMatchObject([{ filename: 'lease.pdf' }])
  expect(metadata).not.toHaveProperty('unread')
})

test('all documents are awaited where no other can answer', async () => {
  await assistant.startWorker()
  const lease = await addUnreadDocument(database, person, 'lease.pdf')
  const { until, conversationId } = await asked('How long is the notice period?')
  await until('tool')
  await finishReading(database, lease, LEASE)
  await until('done')
  expect((await metadataOf(conversationId))?.sources).toMatchObject([{ filename: 'lease.pdf' }])
})

test('a model answers at once a question that names none of many documents', async () => {
  await assistant.startWorker()
  for (const name of ['one', 'two', 'three', 'four']) await addUnreadDocument(database, person, `${name}.pdf`)
  const { until, conversationId } = await asked('How long is the notice period?')
  expect(steps(await until('done'))).toEqual([])
  expect(await metadataOf(conversationId)).toMatchObject({ unread: 4 })
})

test('for the extractive answerer, the first of few documents that answers is enough', async () => {
  await assistant.startWorker()
  await addReadDocument(database, person, 'tides.txt', ['The tide rose.'])
  for (const name of ['one', 'two']) await addUnreadDocument(database, person, `${name}.pdf`)
  const lease = await addUnreadDocument(database, person, 'lease.pdf')
  const { until, conversationId } = await asked('How long is the notice period?', { model: READER_MODEL })
  expect(steps(await until('tool'))).toEqual(['running'])
  await finishReading(database, lease, LEASE)
  expect(steps(await until('done'))).toEqual(['running', 'done'])
  expect(await metadataOf(conversationId)).toMatchObject({ sources: [{ filename: 'lease.pdf' }], unread: 2 })
})

test.each([READER_MODEL, STUB_MODEL])(
  '%s answers at once while a thousand files are being read, and counts them',
  async (model) => {
    await assistant.startWorker()
    await addReadDocument(database, person, 'tides.txt', ['The tide rose.'])
    await db.admin.query(
      `insert into documents (owner, filename, originalname, mimetype, size, path, sha256, state)
     select $1, n || '.txt', n || '.txt', 'text/plain', 1, gen_random_uuid(), 'unread ' || n, 'queued' from generate_series(1, 1000) n`,
      [person.sub],
    )
    const { until, conversationId } = await asked('How long is the notice period?', { model })
    expect(steps(await until('done'))).toEqual([])
    expect(await metadataOf(conversationId)).toMatchObject({ unread: 1000 })
  },
)

test('a question whose words hold the name of a file waits for it, and for no other', async () => {
  await assistant.startWorker()
  await addReadDocument(database, person, 'tides.txt', ['The notice period of the tide.'])
  for (const name of ['one', 'two', 'three', 'four']) await addUnreadDocument(database, person, `${name}.pdf`)
  await addUnreadDocument(database, person, 'ase.pdf')
  const lease = await addUnreadDocument(database, person, 'Lease.pdf')
  const { until, conversationId } = await asked('How long is the notice period in lease.pdf?')
  expect(steps(await until('tool'))).toEqual(['running'])
  await finishReading(database, lease, LEASE)
  expect(steps(await until('done'))).toEqual(['running', 'done'])
  const metadata = await metadataOf(conversationId)
  expect(metadata?.sources).toContainEqual(expect.objectContaining({ filename: 'Lease.pdf' }))
  expect(metadata).toMatchObject({ unread: 5 })
})

test('an answer from another document does not wait, and mentions the unread one', async () => {
  await assistant.startWorker()
  await addReadDocument(database, person, 'lease.pdf', LEASE)
  await addUnreadDocument(database, person, 'other.txt')
  const { until, conversationId } = await asked('How long is the notice period?')
  expect(steps(await until('done'))).toEqual([])
  expect(await metadataOf(conversationId)).toMatchObject({ unread: 1 })
})

test('documents that the question does not refer to are not mentioned', async () => {
  await assistant.startWorker()
  await addReadDocument(database, person, 'lease.pdf', LEASE)
  await addUnreadDocument(database, person, 'other.txt')
  const { until, conversationId } = await asked(NAMED)
  expect(steps(await until('done'))).toEqual([])
  expect(await metadataOf(conversationId)).not.toHaveProperty('unread')
})

test('a paused document is not awaited, and mentioned', async () => {
  await assistant.startWorker()
  await addReadDocument(database, person, 'tides.txt', ['The tide rose.'])
  const lease = await addUnreadDocument(database, person, 'lease.pdf')
  await db.admin.query(`update documents set state = 'paused' where id = $1`, [lease.id])
  const { until, conversationId } = await asked(NAMED)
  expect(steps(await until('done'))).toEqual([])
  expect(await metadataOf(conversationId)).toMatchObject({ unread: 1 })
})

test('the question is answered without the document after the wait limit', async () => {
  await assistant.startWorker({ documentWaitLimitMs: 1 })
  await addUnreadDocument(database, person, 'lease.pdf')
  const { until, conversationId } = await asked(NAMED)
  expect(steps(await until('done'))).toEqual(['running', 'done'])
  expect(await metadataOf(conversationId)).toMatchObject({ unread: 1 })
})

test('a person can stop the wait', async () => {
  await assistant.startWorker()
  await addUnreadDocument(database, person, 'lease.pdf')
  const { until, conversationId } = await asked(NAMED)
  await until('tool')
  await stopReply(database, person, conversationId)
  await until('stopped')
})

test('a question does not wait for documents of another person', async () => {
  await assistant.startWorker()
  await addUnreadDocument(database, await db.createPerson(), 'lease.pdf')
  const { until } = await asked(NAMED)
  expect(steps(await until('done'))).toEqual([])
})
