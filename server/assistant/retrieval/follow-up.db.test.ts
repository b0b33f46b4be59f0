import { expect, test } from 'vitest'
import { READER_MODEL } from '#contract/product-names.ts'
import { openTestAssistant } from '#test/assistant.ts'
import { addReadDocument } from '#test/library.ts'

const { db, assistant } = await openTestAssistant()

test('a follow-up question is answered about the same subject, and the answer shows the search text', async () => {
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'lease.txt', [
    'The tenants may use the break clause on 30 September 2026. They pay a fee of one rent for the break clause.',
    'The house costs much. A ladder for fish costs 1.2 million pounds.',
  ])
  await assistant.startWorker()
  const conversationId = await assistant.startConversation(person, { model: READER_MODEL })
  const ask = async (question: string) => {
    const watched = await assistant.watch(conversationId)
    await db.database.asUser(person, (scope) =>
      scope.query('insert into messages (conversation_id, content, sender_role) values ($1, $2, 1)', [
        conversationId,
        question,
      ]),
    )
    await watched.until('done')
    return (await assistant.messagesIn(person, conversationId)).at(-1)
  }
  await ask('What is the break clause?')
  const answer = await ask('And when exactly?')
  expect(answer?.content).toContain('> The tenants may use the break clause on 30 September 2026.')
  expect(answer?.metadata?.trace?.query).toBe('And when exactly?\nWhat is the break clause?')
})
