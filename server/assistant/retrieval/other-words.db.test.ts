import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { READER_MODEL } from '#contract/product-names.ts'
import { OTHER_WORDS_STEP } from '#contract/reply-events.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { WorkerOptions } from '#server/assistant/queue/worker.ts'
import { createStubProviders, openTestAssistant, type Person, STUB_MODEL } from '#test/assistant.ts'
import { addReadDocument } from '#test/library.ts'
import { startRecordingModel } from '#test/recording-model.ts'
import { createSpace } from '#test/spaces.ts'

const { db, assistant } = await openTestAssistant()
const QUESTION = 'May I let my granny flat?'
const ANSWER = 'An accessory dwelling unit may be rented for at least thirty days.'
let person: Person

beforeEach(async () => {
  person = await db.createPerson()
  await addReadDocument(db.database, person, 'ordinance.txt', [ANSWER])
  await addReadDocument(db.database, person, 'harbour.txt', ['The harbour master opens the lock at high tide.'])
})

/** @param answerShort what the model answers when it is asked for other words */
async function startWorker(answerShort: (last: string) => string | undefined, options: Partial<WorkerOptions> = {}) {
  const model = await startRecordingModel(answerShort)
  onTestFinished(() => model.stop())
  await assistant.startWorker({ providersOf: createStubProviders(model), ...options })
  return model
}

async function ask(question: string, given: { conversationId?: string; model?: string } = {}) {
  const conversationId =
    given.conversationId ??
    (await assistant.startConversation(person, { model: given.model ?? STUB_MODEL, title: 'Flat' }))
  const watched = await assistant.watch(conversationId)
  await assistant.ask(person, conversationId, question)
  const parts = await watched.until('done')
  const answer = (await assistant.answersIn(person, conversationId)).at(-1)
  const steps = parts.flatMap(({ tool }) => (tool?.name === OTHER_WORDS_STEP ? [tool.status] : []))
  return { conversationId, metadata: answer?.metadata, steps }
}

test('a question whose words are not in the documents is searched for in the words of the model', async () => {
  const model = await startWorker(() => 'accessory dwelling unit rental\nsecondary suite')
  const { metadata, steps } = await ask(QUESTION)
  expect(model.short).toHaveLength(1)
  expect(model.short[0]?.at(-1)).toEqual({ role: 'user', content: QUESTION })
  expect(model.lastSent().text).toContain(ANSWER)
  expect(metadata?.sources).toMatchObject([{ filename: 'ordinance.txt', text: ANSWER }])
  expect(metadata?.trace).toMatchObject({
    query: QUESTION,
    otherWords: ['accessory dwelling unit rental', 'secondary suite'],
  })
  expect(steps).toEqual(['running', 'done'])
})

test('a question whose words are there is answered without a further request', async () => {
  const model = await startWorker(() => 'harbour')
  const { metadata, steps } = await ask('Who opens the lock of the harbour?')
  expect(model.short).toEqual([])
  expect(metadata?.trace).not.toHaveProperty('otherWords')
  expect(steps).toEqual([])
})

test('a question with parts is searched for part by part, also where the model names only one of them', async () => {
  const model = await startWorker(() => 'lock at high tide')
  const { metadata } = await ask('Who opens the lock of the harbour, and how long may an accessory dwelling be rented?')
  expect(model.short).toHaveLength(1)
  expect(metadata?.trace?.otherWords).toEqual([
    'Who opens the lock of the harbour',
    'how long may an accessory dwelling be rented',
    'lock at high tide',
  ])
})

test('documents that the question names by their language still come first, and notes on the place stay', async () => {
  const korean = '임대차 계약은 2021년에 시작되었다. 임대료는 매월 3일에 지급한다.'
  const spaceId = await createSpace(db, person)
  await addReadDocument(db.database, person, '계약서.txt', [korean], spaceId)
  await addReadDocument(
    db.database,
    person,
    'lease.txt',
    ['The dwelling unit of the mill has a wheel and a roof.'],
    spaceId,
  )
  const model = await startWorker(() => 'dwelling unit')
  const conversationId = await assistant.startConversation(person, { title: 'Flat' })
  await db.admin.query('update conversations set space_id = $2 where id = $1', [conversationId, spaceId])
  const { metadata } = await ask('May I let the granny flat of the Korean contract?', { conversationId })
  expect(metadata?.trace?.otherWords).toEqual(['dwelling unit'])
  expect(model.lastSent().text).toContain(korean)
  expect(metadata?.trace?.notes).toEqual(
    expect.arrayContaining([
      'Documents in the language that the question names come first.',
      expect.stringContaining('Searched the documents of the space'),
    ]),
  )
})

test('a follow-up is put in other words with the messages before it', async () => {
  const model = await startWorker(() => 'accessory dwelling unit')
  const { conversationId } = await ask(QUESTION)
  await ask('And my garage?', { conversationId })
  expect(model.short.at(-1)?.map(({ role, content }) => [role, content])).toEqual([
    ['system', expect.stringContaining('searches')],
    ['user', QUESTION],
    ['assistant', 'Recorded [1].'],
    ['user', 'And my garage?'],
  ])
})

test.each([
  ['says nothing', () => ''],
  ['does not answer in time', () => undefined],
])('where the model %s, the question is answered with what its own words found', async (_, answerShort) => {
  await startWorker(answerShort, { otherWordsTimeoutMs: 200 })
  const { metadata, steps } = await ask('May I rent my granny flat near the chapel?')
  expect(metadata?.error).toBeUndefined()
  expect(metadata?.trace).not.toHaveProperty('otherWords')
  expect(steps).toEqual(['running', 'done'])
})

test('the setting turns it off, and the Reader asks no model', async () => {
  const model = await startWorker(() => 'accessory dwelling unit', { asksForOtherWords: false })
  await ask(QUESTION)
  expect(model.short).toEqual([])
  const second = await startWorker(() => 'accessory dwelling unit')
  await ask(QUESTION, { model: READER_MODEL })
  expect(second.short).toEqual([])
})

test('other words find nothing of another person', async () => {
  const other = await db.createPerson()
  await addReadDocument(db.database, other, 'secret.txt', ['The accessory dwelling unit belongs to Ann.'])
  const model = await startWorker(() => 'accessory dwelling unit belongs to Ann')
  const { metadata } = await ask(QUESTION)
  expect(model.lastSent().text).not.toContain('belongs to Ann')
  expect(metadata?.trace?.considered.map(({ filename }) => filename)).not.toContain('secret.txt')
})

test('the step is stored as a tool run before the answer, and later turns are not sent it', async () => {
  const model = await startWorker(() => 'accessory dwelling unit rental\nsecondary suite')
  const { conversationId } = await ask(QUESTION)
  const { rows } = await db.database.asUser(person, (scope) =>
    scope.query<{ sender_role: number; content: string; tool_name: string; status: string }>(
      `select sender_role, content, metadata ->> 'tool_name' as tool_name, metadata ->> 'status' as status
       from messages where conversation_id = $1 order by position`,
      [conversationId],
    ),
  )
  expect(rows).toMatchObject([
    { content: QUESTION },
    {
      sender_role: SENDER_ROLES.tool,
      tool_name: OTHER_WORDS_STEP,
      status: 'done',
      content: 'accessory dwelling unit rental\nsecondary suite',
    },
    { content: 'Recorded [1].' },
  ])
  await ask('Who opens the lock of the harbour?', { conversationId })
  expect(model.lastSent().text).not.toContain('secondary suite')
})

test('a failed answer is no turn before the question', async () => {
  const model = await startWorker(() => 'accessory dwelling unit')
  const { conversationId } = await ask(QUESTION)
  await db.database.asService((scope) =>
    scope.query(
      `update messages set metadata = metadata || '{"error": {"code": "internal", "message": "Failed.", "retryable": true}}'
       where conversation_id = $1 and content = 'Recorded [1].'`,
      [conversationId],
    ),
  )
  await ask('And my garage?', { conversationId })
  expect(model.short.at(-1)?.map(({ content }) => content)).not.toContain('Recorded [1].')
})
