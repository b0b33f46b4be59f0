import { expect, it } from 'vitest'
import { mergeMessages, messageKey, temporaryMessage, type ThreadMessage } from './merge-messages.ts'
import { failedReplies, isWaiting, visibleMessages } from './waiting.ts'

const row = (id: string, position: number, role: 1 | 2 | 3 = 1, metadata: ThreadMessage['metadata'] = null) => ({
  ...temporaryMessage('c', id, id),
  id,
  pendingId: undefined,
  position,
  sender_role: role,
  metadata,
})
const stored = (...given: Parameters<typeof row>): ThreadMessage => {
  const { pendingId: _none, ...message } = row(...given)
  return message
}
const ids = (messages: readonly ThreadMessage[]) => messages.map((message) => message.id)

it('puts the stored row in place of the optimistic one, under the same key', () => {
  const temporary = temporaryMessage('c', 'Hello', 'x')
  const merged = mergeMessages([stored('a', 1), temporary], [stored('x', 2)])
  expect(temporary.id).toMatch(/^temp-\d+$/)
  expect(ids(merged)).toEqual(['a', 'x'])
  expect(merged.map(messageKey)).toEqual(['a', messageKey(temporary)])
})

it('keeps the order of the database and replaces rows of the same id', () => {
  expect(ids(mergeMessages([stored('b', 5), stored('a', 2)], [stored('c', 3), stored('a', 2)]))).toEqual([
    'a',
    'c',
    'b',
  ])
})

it('waits while the last question has no answer', () => {
  expect(isWaiting([], undefined)).toBe(false)
  expect(isWaiting([stored('q', 1)], undefined)).toBe(true)
  expect(isWaiting([stored('q', 1), stored('t', 2, 3)], undefined)).toBe(true)
  expect(isWaiting([stored('q', 1), stored('a', 2, 2)], undefined)).toBe(false)
})

it('waits again when a failed reply is asked for again, and shows it no longer', () => {
  const error = { code: 'provider', message: 'The model did not answer.', retryable: true }
  const messages = [stored('q', 1), stored('f', 2, 2, { error })]
  const asked = { kind: 'asked' as const, ignored: ids(failedReplies(messages)) }
  expect(isWaiting(messages, undefined)).toBe(false)
  expect(isWaiting(messages, asked)).toBe(true)
  expect(ids(visibleMessages(messages, asked))).toEqual(['q'])
  expect(isWaiting([...messages, stored('a', 3, 2)], asked)).toBe(false)
})

it('does not wait for a question whose waiting was ended', () => {
  expect(isWaiting([stored('q', 1)], { kind: 'ended', questionId: 'q' })).toBe(false)
  expect(isWaiting([stored('q', 1), stored('r', 2)], { kind: 'ended', questionId: 'q' })).toBe(true)
})
