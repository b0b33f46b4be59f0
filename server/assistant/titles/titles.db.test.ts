import { beforeEach, expect, test } from 'vitest'
import { READER_MODEL } from '#contract/product-names.ts'
import { getConversation, updateConversation } from '#server/conversations/queries.ts'
import { openTestAssistant, type Person } from '#test/assistant.ts'
import { createRecorder, createTestTokens, live, openClient, startNode, tokenOf } from '#test/realtime.ts'

const { db, assistant } = await openTestAssistant()
let person: Person

beforeEach(async () => {
  person = await db.createPerson()
})

const titleOf = async (conversationId: string) =>
  (await db.database.asUser(person, (scope) => getConversation(scope, conversationId))).title

async function answered(conversationId: string, question: string): Promise<void> {
  const { until } = await assistant.watch(conversationId)
  await assistant.ask(person, conversationId, question)
  await until('done')
}

const QUESTION = 'How long is the notice period? [[stub tokens=5]]'
const QUESTION_TITLE = 'How long is the notice period? [[stub tokens=5]]'
/** Matches the stub's answer to a request that does not stream, cut to eight words. */
const STUB_TITLE = /^\S+( \S+){0,7}$/

test.for(['openai-compatible/stub', 'claude-sonnet-4-5'])(
  'the first answer of %s is followed by a title',
  async (model) => {
    await assistant.startWorker()
    for (const title of [undefined, 'New conversation']) {
      const conversationId = await assistant.startConversation(person, {
        model,
        ...(title === undefined ? {} : { title }),
      })
      await answered(conversationId, QUESTION)
      await expect.poll(() => titleOf(conversationId)).not.toBe(title ?? null)
      const given = await titleOf(conversationId)
      expect(given).toMatch(STUB_TITLE)
      expect(given).not.toBe(QUESTION_TITLE)
    }
  },
)

test('the extractive answerer takes the title from the question', async () => {
  await assistant.startWorker()
  const conversationId = await assistant.startConversation(person, { model: READER_MODEL })
  await answered(conversationId, 'How long is the notice period?')
  await expect.poll(() => titleOf(conversationId)).toBe('How long is the notice period')
})

test.for([
  ['has nothing to say', 'nstokens=0', 10_000],
  ['writes an essay', 'nstokens=80', 10_000],
  ['takes too long', 'nsdelay=60000', 50],
] as const)('a model that %s leaves the title to the question', async ([, stubbed, titleTimeoutMs]) => {
  await assistant.startWorker({ titleTimeoutMs })
  const conversationId = await assistant.startConversation(person)
  await answered(conversationId, `Rent [[stub tokens=5 ${stubbed}]]`)
  await expect.poll(() => titleOf(conversationId)).toBe(`Rent [[stub tokens=5 ${stubbed}]]`)
})

test('a rename during title generation wins', async () => {
  const worker = await assistant.startWorker({ titleTimeoutMs: 120_000 })
  const conversationId = await assistant.startConversation(person, { title: 'New conversation' })
  await answered(conversationId, 'Rent [[stub tokens=5 nsdelay=60000]]')
  await db.database.asUser(person, (scope) => updateConversation(scope, conversationId, { title: 'Mine' }))
  await worker.stop()
  expect(await titleOf(conversationId)).toBe('Mine')
})

test('a shutdown during title generation uses the question as the title', async () => {
  const worker = await assistant.startWorker({ titleTimeoutMs: 120_000 })
  const conversationId = await assistant.startConversation(person)
  await answered(conversationId, 'Rent [[stub tokens=5 nsdelay=60000]]')
  await worker.stop()
  expect(await titleOf(conversationId)).toBe('Rent [[stub tokens=5 nsdelay=60000]]')
})

test('a title is written once, and a chosen title is never replaced', async () => {
  const worker = await assistant.startWorker({ titleTimeoutMs: 120_000 })
  const [untitled, titled] = [
    await assistant.startConversation(person),
    await assistant.startConversation(person, { title: 'Lease' }),
  ]
  await answered(titled, QUESTION)
  await answered(untitled, 'First [[stub tokens=5 nstokens=0]]')
  await expect.poll(() => titleOf(untitled)).toBe('First [[stub tokens=5 nstokens=0]]')
  await answered(untitled, 'Second [[stub tokens=5 nstokens=0]]')
  await worker.stop()
  expect(await titleOf(untitled)).toBe('First [[stub tokens=5 nstokens=0]]')
  expect(await titleOf(titled)).toBe('Lease')
})

test('a failed answer uses its question as the title, and a later answer does not change it', async () => {
  const worker = await assistant.startWorker({ titleTimeoutMs: 120_000 })
  const conversationId = await assistant.startConversation(person, { model: 'no-such-model' })
  const { until } = await assistant.watch(conversationId)
  await assistant.ask(person, conversationId, 'First of all?')
  await until('error')
  await expect.poll(() => titleOf(conversationId)).toBe('First of all')
  await db.admin.query('update conversations set model_name = $1 where id = $2', [READER_MODEL, conversationId])
  await answered(conversationId, 'Second')
  await worker.stop()
  expect(await titleOf(conversationId)).toBe('First of all')
})

test('a title lost with its process is made later from the first answered question', async () => {
  const worker = await assistant.startWorker({ titleTimeoutMs: 120_000 })
  const conversationId = await assistant.startConversation(person, { model: 'no-such-model' })
  const { until } = await assistant.watch(conversationId)
  await assistant.ask(person, conversationId, 'First')
  await until('error')
  await expect.poll(() => titleOf(conversationId)).toBe('First')
  await db.admin.query('update conversations set title = null, model_name = $1 where id = $2', [
    READER_MODEL,
    conversationId,
  ])
  await answered(conversationId, 'Second')
  await worker.stop()
  expect(await titleOf(conversationId)).toBe('Second')
})

test('the title reaches the owner alone, as a change of the conversation', async () => {
  const tokens = await createTestTokens()
  const node = await startNode(db, tokens)
  const stranger = await db.createPerson()
  const clients = await Promise.all(
    [person, stranger].map(async (who) =>
      openClient(node, { apikey: tokens.anonKey, token: await tokenOf(tokens, who) }),
    ),
  )
  const changes = clients.map(() => createRecorder<{ new: Record<string, unknown> }>())
  await Promise.all(
    clients.map((client, index) =>
      live(
        client
          .channel('conversations')
          .on('postgres_changes', { event: 'UPDATE', schema: 'public', table: 'conversations' }, (change) =>
            changes[index]?.add(change),
          ),
      ),
    ),
  )
  await assistant.startWorker()
  const conversationId = await assistant.startConversation(person, { model: READER_MODEL, title: 'New conversation' })
  await answered(conversationId, 'What is due?')
  expect((await changes[0]?.next())?.new).toMatchObject({ id: conversationId, title: 'What is due' })
  expect(changes[1]?.waiting).toEqual([])
  await Promise.all(clients.map((client) => client.disconnect()))
  await node.close()
})
