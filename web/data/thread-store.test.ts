import { afterEach, expect, test } from 'vitest'
import { temporaryMessage } from '#web/lib/messages/merge-messages.ts'
import {
  addTemporary,
  answerArrived,
  resetThreads,
  setAwaiting,
  setExternalConversation,
  useThreadStore,
} from './thread-store.ts'

afterEach(resetThreads)

const state = () => useThreadStore.getState()
const contents = () => state().tempMessages.map(({ content }) => content)

test('what is sent is appended at once, under a temporary id', () => {
  addTemporary(temporaryMessage('', 'first', crypto.randomUUID()))
  addTemporary(temporaryMessage('', 'second', crypto.randomUUID()))
  expect(contents()).toEqual(['first', 'second'])
  for (const { id, sender_role: role } of state().tempMessages) {
    expect(id).toMatch(/^temp-/)
    expect(role).toBe(1)
  }
})

test('another external id keeps the temporary messages, none clears them', () => {
  addTemporary(temporaryMessage('', 'first', crypto.randomUUID()))
  setExternalConversation('outside-7')
  expect(state().externalApiConversationId).toBe('outside-7')
  expect(contents()).toEqual(['first'])
  setExternalConversation(null)
  expect(state().externalApiConversationId).toBeNull()
  expect(contents()).toEqual([])
})

test('an answer that arrives is remembered, and ends the waiting in its conversation alone', () => {
  setAwaiting('a', { kind: 'asked', ignored: [] })
  setAwaiting('b', { kind: 'asked', ignored: [] })
  answerArrived('a', 'Until midnight.')
  expect(state().lastAIResponse).toBe('Until midnight.')
  expect(Object.keys(state().awaiting)).toEqual(['b'])
})

test('whoever signs out leaves nothing behind', () => {
  addTemporary(temporaryMessage('', 'first', crypto.randomUUID()))
  setExternalConversation('outside-7')
  answerArrived('a', 'Until midnight.')
  resetThreads()
  expect(state()).toEqual(useThreadStore.getInitialState())
})
