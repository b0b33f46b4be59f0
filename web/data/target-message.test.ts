import { afterEach, expect, test } from 'vitest'
import { setTargetMessage, clearTargetMessage, useTargetMessage } from './target-message.ts'

const first = { conversationId: 'c', messageId: 'first', position: 1 }
const second = { conversationId: 'c', messageId: 'second', position: 2 }

afterEach(() => useTargetMessage.setState({ target: null }))

test('forgets the message that was shown', () => {
  setTargetMessage(first)
  clearTargetMessage('first')
  expect(useTargetMessage.getState().target).toBeNull()
})

test('keeps a newer target while an older one is being given up', () => {
  setTargetMessage(first)
  setTargetMessage(second)
  clearTargetMessage('first')
  expect(useTargetMessage.getState().target).toEqual(second)
})
