import { expect, test } from 'vitest'
import { READER_MODEL } from '#contract/product-names.ts'
import { isPassageSource } from '#contract/source.ts'
import { openTestAssistant } from '#test/assistant.ts'
import { addReadDocument } from '#test/library.ts'

const { db, assistant } = await openTestAssistant()

async function askReader(person: Awaited<ReturnType<typeof db.createPerson>>) {
  const conversationId = await assistant.startConversation(person, { model: READER_MODEL })
  return async (question: string) => {
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
}

test('a follow-up question is answered from the page that the answer before quoted', async () => {
  const person = await db.createPerson()
  const stages = (day: string, last: string) =>
    `${day}\n\nThe Oil Band plays on the main stage at nine.\n\n${last} closes the main stage at eleven.`
  await addReadDocument(db.database, person, 'programme.txt', [
    stages('Programme of Friday', 'The Lamp Choir'),
    stages('Programme of Saturday', 'The Wick Quartet').replace('The Oil Band', 'The Seal Trio'),
    'Who closes the main stage is told by the main stage office. The main stage closes at eleven.',
  ])
  await assistant.startWorker()
  const ask = await askReader(person)
  expect((await ask('When does the Seal Trio play?'))?.content).toContain('at nine')
  const sources = (await ask('And who closes that stage?'))?.metadata?.sources?.filter(isPassageSource)
  expect(sources?.[0]?.page).toBe(2)
})

test('a follow-up question is answered about the same subject, and the answer shows the search text', async () => {
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'lease.txt', [
    'The tenants may use the break clause on 30 September 2026. They pay a fee of one rent for the break clause.',
    'The house costs much. A ladder for fish costs 1.2 million pounds.',
  ])
  await assistant.startWorker()
  const ask = await askReader(person)
  await ask('What is the break clause?')
  const answer = await ask('And when exactly?')
  expect(answer?.content).toContain('> The tenants may use the break clause on 30 September 2026.')
  expect(answer?.metadata?.trace?.query).toBe('And when exactly?\nWhat is the break clause?')
})
