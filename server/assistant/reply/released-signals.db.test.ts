/** Node keeps a combined signal that has listeners until it aborts, and with it the whole answer that the listeners reach. */
import { getEventListeners } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { READER_MODEL } from '#contract/product-names.ts'
import { openTestAssistant, STUB_MODEL } from '#test/assistant.ts'

const { db, assistant } = await openTestAssistant()

test.each([STUB_MODEL, READER_MODEL])('an answer of %s that has ended is reachable from no signal', async (model) => {
  const combine = vi.spyOn(AbortSignal, 'any')
  onTestFinished(() => {
    combine.mockRestore()
  })
  await assistant.startWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, { model })
  await assistant.ask(person, conversationId, 'Where is the lamp?')
  await vi.waitUntil(async () => (await assistant.answersIn(person, conversationId)).length === 1)
  const signals = combine.mock.results.map(({ value }) => value as AbortSignal)
  expect(signals.length).toBeGreaterThan(0)
  const holding = () => signals.filter((signal) => !signal.aborted && getEventListeners(signal, 'abort').length > 0)
  await expect.poll(holding).toEqual([])
})
