import { afterEach, expect, test } from 'vitest'
import { setTargetMessage, clearTargetMessage, useTargetMessage } from './target-message.ts'

const first = { conversationId: 'c', messageId: 'first', position: 1 }
const second = { conversationId: 'c', messageId: 'second', position: 2 }

afterEach(() => useTargetMessage.setState({ target: null }))

test('clears the shown target', () => {
  setTargetMessage(first)
  clearTargetMessage('first')
  expect(useTargetMessage.getState().target).toBeNull()
})

test('clearing an older target keeps a newer one', () => {
  setTargetMessage(first)
  setTargetMessage(second)
  clearTargetMessage('first')
  expect(useTargetMessage.getState().target).toEqual(second)
})
