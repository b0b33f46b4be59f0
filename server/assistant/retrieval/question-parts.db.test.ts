import { expect, test } from 'vitest'
import { READER_MODEL } from '#contract/product-names.ts'
import { openTestAssistant } from '#test/assistant.ts'
import { addReadDocument } from '#test/library.ts'

const { db, assistant } = await openTestAssistant()

test('the Reader quotes every part of a question, the best of each document first', async () => {
  const person = await db.createPerson()
  const others = Array.from(
    { length: 12 },
    (_, index) => `The plan of year ${index} names the harbour and the review of its plan.`,
  )
  await addReadDocument(db.database, person, 'access.txt', [...others, 'The access plan is reviewed every five years.'])
  await addReadDocument(db.database, person, 'crew.txt', ['The hotshot crew is inspected once a year by the agency.'])
  await assistant.startWorker()
  const conversationId = await assistant.startConversation(person, { model: READER_MODEL })
  const watched = await assistant.watch(conversationId)
  await assistant.ask(
    person,
    conversationId,
    'How often is the access plan reviewed, and who inspects the hotshot crew?',
  )
  await watched.until('done')
  const answer = (await assistant.answersIn(person, conversationId)).at(-1)
  expect(answer?.metadata?.sources?.slice(0, 2)).toMatchObject([
    { filename: 'access.txt', text: 'The access plan is reviewed every five years.' },
    { filename: 'crew.txt', text: 'The hotshot crew is inspected once a year by the agency.' },
  ])
  expect(answer?.content).toContain('> The hotshot crew is inspected once a year by the agency. [2]')
  expect(answer?.metadata?.trace?.otherWords).toEqual([
    'How often is the access plan reviewed',
    'who inspects the hotshot crew',
  ])
})

test('a part is answered with what the other part asks for', async () => {
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'harbour.txt', [
    'The harbour licence is printed on grey paper and signed by the harbour office.\n\n' +
      'Boats and rafts are measured there. The harbour licence takes nine weeks.',
  ])
  await addReadDocument(db.database, person, 'market.txt', [
    'The market licence of the town hall is printed on white paper.\n\n' +
      'Stalls and carts are counted there by two people. The market licence takes two days.',
  ])
  await assistant.startWorker()
  const conversationId = await assistant.startConversation(person, { model: READER_MODEL })
  const watched = await assistant.watch(conversationId)
  await assistant.ask(
    person,
    conversationId,
    'How long does the harbour licence take compared with the market licence of the town?',
  )
  await watched.until('done')
  const [one, other] = (await assistant.answersIn(person, conversationId)).at(-1)?.metadata?.sources ?? []
  expect(one).toMatchObject({ filename: 'harbour.txt', text: expect.stringContaining('nine weeks') as string })
  expect(other).toMatchObject({ filename: 'market.txt', text: expect.stringContaining('two days') as string })
})
