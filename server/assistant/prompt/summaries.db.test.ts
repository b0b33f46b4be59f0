import { beforeAll, expect, test } from 'vitest'
import { rewriteAnswer } from '#server/conversations/rewrite-queries.ts'
import { openTestAssistant, type Person } from '#test/assistant.ts'

const SMALL_MODEL = 'openai-compatible/stub:tokens=600'
const { db, stub, assistant } = await openTestAssistant({ nstokens: 30 })

beforeAll(async () => {
  await db.admin.query(
    `insert into models (name, version, model_identifier, provider, family, context_window)
     values ('small', '1', $1, 'OpenAI-compatible', 'stub', 4000)`,
    [SMALL_MODEL],
  )
})

const summariesOf = async (person: Person, conversationId: string) =>
  (
    await db.database.asUser(person, (scope) =>
      scope.query<{ id: string; content: string; model: string; messages: number }>(
        'select id, content, model, messages from conversation_summaries where conversation_id = $1 order by through_position',
        [conversationId],
      ),
    )
  ).rows

const { answersIn } = assistant

async function askAll(person: Person, conversationId: string, questions: readonly string[]): Promise<void> {
  for (const question of questions) {
    const count = (await answersIn(person, conversationId)).length
    await assistant.ask(person, conversationId, question)
    await expect.poll(async () => (await answersIn(person, conversationId)).length).toBe(count + 1)
  }
}

const QUESTIONS = ['first', 'second', 'third', 'fourth', 'fifth'].map((word) => `${word} question`)

test('summarises older turns once, shows viewers the step, and says so in the answer', async () => {
  await assistant.startWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, { model: SMALL_MODEL })
  const { parts } = await assistant.watch(conversationId)
  await askAll(person, conversationId, QUESTIONS)
  const summaries = await summariesOf(person, conversationId)
  expect(summaries.length).toBeGreaterThan(0)
  expect(summaries.length).toBeLessThan(4)
  expect(summaries[0]).toMatchObject({ model: SMALL_MODEL, content: expect.stringContaining('Paragraph 1.') as string })
  expect(parts.filter(({ tool }) => tool?.name === 'summary').map(({ tool }) => tool?.status)).toEqual(
    summaries.flatMap(() => ['running', 'done']),
  )
  const answers = await answersIn(person, conversationId)
  expect(answers.at(0)?.metadata).not.toHaveProperty('summary')
  expect(answers.at(-1)?.metadata?.summary).toBe(summaries.at(-1)?.id)
  const request = JSON.stringify(await stub.lastRequest())
  expect(request).toContain(`<earlier>\\n${summaries.at(-1)?.content}`)
  expect(request.length).toBeLessThan(4 * 4_000)
  const stranger = await db.createPerson()
  expect(await summariesOf(stranger, conversationId)).toEqual([])

  const [oldest] = answers
  await rewriteAnswer(db.database, person, { conversationId, answerId: oldest?.id ?? '' }, 'openai-compatible/stub')
  await expect.poll(() => summariesOf(person, conversationId)).toEqual([])
})

test('rejects a question larger than the window without a model request', async () => {
  await assistant.startWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, { model: SMALL_MODEL })
  const before = await stub.lastRequest()
  await askAll(person, conversationId, [`${'one two three four '.repeat(1_500)}?`])
  const [answer] = await answersIn(person, conversationId)
  expect(answer?.metadata?.error).toEqual({
    code: 'question_too_long',
    message:
      'Your message is too long for this model: it takes about 6,006 tokens, and with the answer there is room for 4,000. Shorten it, upload it as a document, or choose another model.',
    retryable: false,
  })
  expect(await stub.lastRequest()).toEqual(before)
})

test('continues with extracted sentences where the model gives no summary', async () => {
  await assistant.startWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, { model: SMALL_MODEL })
  await stub.configure({ nstokens: 0 })
  await askAll(person, conversationId, QUESTIONS)
  const [summary] = await summariesOf(person, conversationId)
  expect(summary).toMatchObject({ model: 'alcove-reader', content: expect.stringContaining('Asked: first') as string })
  expect((await answersIn(person, conversationId)).every(({ metadata }) => metadata?.error === undefined)).toBe(true)
  await stub.configure({ nstokens: 30 })
})
