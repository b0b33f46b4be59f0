import { afterEach, expect, test } from 'vitest'
import { temporaryMessage } from '#web/lib/messages/merge-messages.ts'
import {
  addTemporaryMessage,
  receiveAnswer,
  resetThreadStore,
  setAwaiting,
  setExternalConversation,
  useThreadStore,
} from './thread-store.ts'

afterEach(resetThreadStore)

const state = () => useThreadStore.getState()
const contents = () => state().tempMessages.map(({ content }) => content)

test('a sent message is appended at once, under a temporary id', () => {
  addTemporaryMessage(temporaryMessage('', 'first', crypto.randomUUID()))
  addTemporaryMessage(temporaryMessage('', 'second', crypto.randomUUID()))
  expect(contents()).toEqual(['first', 'second'])
  for (const { id, sender_role: role } of state().tempMessages) {
    expect(id).toMatch(/^temp-/)
    expect(role).toBe(1)
  }
})

test('an external id keeps the temporary messages, null clears them', () => {
  addTemporaryMessage(temporaryMessage('', 'first', crypto.randomUUID()))
  setExternalConversation('outside-7')
  expect(state().externalApiConversationId).toBe('outside-7')
  expect(contents()).toEqual(['first'])
  setExternalConversation(null)
  expect(state().externalApiConversationId).toBeNull()
  expect(contents()).toEqual([])
})

test('a stored answer is remembered, and ends the waiting of its conversation only', () => {
  setAwaiting('a', { kind: 'retrying', failedIds: [] })
  setAwaiting('b', { kind: 'retrying', failedIds: [] })
  receiveAnswer('a', 'Until midnight.')
  expect(state().lastAIResponse).toBe('Until midnight.')
  expect(Object.keys(state().awaiting)).toEqual(['b'])
})

test('resetting empties the store', () => {
  addTemporaryMessage(temporaryMessage('', 'first', crypto.randomUUID()))
  setExternalConversation('outside-7')
  receiveAnswer('a', 'Until midnight.')
  resetThreadStore()
  expect(state()).toEqual(useThreadStore.getInitialState())
})
