import { expect, it } from 'vitest'
import {
  mergeIntoThread,
  mergeMessages,
  mergeNewest,
  messageKey,
  temporaryMessage,
  type ThreadMessage,
} from './merge-messages.ts'
import { failedReplies, isWaiting, visibleMessages } from './awaited-reply.ts'

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

it('keeps equal rows and replaces changed ones', () => {
  const known = [stored('a', 1), stored('b', 2)]
  const merged = mergeMessages(known, [stored('a', 1), { ...stored('b', 2), content: 'New words' }])
  expect(merged[0]).toBe(known[0])
  expect(merged[1]?.content).toBe('New words')
})

it('waits while the last question has no answer', () => {
  expect(isWaiting([], undefined)).toBe(false)
  expect(isWaiting([stored('q', 1)], undefined)).toBe(true)
  expect(isWaiting([stored('q', 1), stored('t', 2, 3)], undefined)).toBe(true)
  expect(isWaiting([stored('q', 1), stored('a', 2, 2)], undefined)).toBe(false)
})

it('waits while a failed reply is retried, and hides it', () => {
  const error = { code: 'provider', message: 'The model did not answer.', retryable: true }
  const messages = [stored('q', 1), stored('f', 2, 2, { error })]
  const retrying = { kind: 'retrying' as const, failedIds: ids(failedReplies(messages)) }
  expect(isWaiting(messages, undefined)).toBe(false)
  expect(isWaiting(messages, retrying)).toBe(true)
  expect(ids(visibleMessages(messages, retrying))).toEqual(['q'])
  expect(isWaiting([...messages, stored('a', 3, 2)], retrying)).toBe(false)
})

it('does not wait after the waiting has ended', () => {
  expect(isWaiting([stored('q', 1)], { kind: 'ended', questionId: 'q' })).toBe(false)
  expect(isWaiting([stored('q', 1), stored('r', 2)], { kind: 'ended', questionId: 'q' })).toBe(true)
})

const thread = (from: number, to: number, hasEarlier: boolean) => ({
  messages: Array.from({ length: to - from + 1 }, (_, index) => stored(`m${from + index}`, from + index)),
  hasEarlier,
})
const positions = ({ messages }: { messages: readonly ThreadMessage[] }) => messages.map(({ position }) => position)

it('merges the newest page with loaded older ones, without deleted rows', () => {
  const newest = { ...thread(4, 7, true), messages: thread(4, 7, true).messages.filter(({ id }) => id !== 'm5') }
  const merged = mergeNewest(thread(1, 5, false), newest)
  expect(positions(merged)).toEqual([1, 2, 3, 4, 6, 7])
  expect(merged.hasEarlier).toBe(false)
})

it('drops messages before a gap, but no unsaved message', () => {
  const known = thread(1, 5, false)
  const merged = mergeNewest({ ...known, messages: [...known.messages, temporaryMessage('c', 'Hello', 'x')] }, thread(8, 9, true)) // prettier-ignore
  expect(positions(merged)).toEqual([8, 9, Number.MAX_SAFE_INTEGER])
  expect(merged.hasEarlier).toBe(true)
})

it('shows nothing once the thread is empty', () => {
  expect(mergeNewest(thread(1, 5, false), { messages: [], hasEarlier: false })).toEqual({ messages: [], hasEarlier: false }) // prettier-ignore
})

it('leaves out a changed row from before the loaded ones, unless all are loaded', () => {
  const changes = [stored('2', 2), stored('10', 10)]
  expect(positions(mergeIntoThread(thread(8, 9, true), changes))).toEqual([8, 9, 10])
  expect(positions(mergeIntoThread(thread(8, 9, false), changes))).toEqual([2, 8, 9, 10])
  expect(positions(mergeIntoThread({ messages: [], hasEarlier: false }, changes))).toEqual([2, 10])
})
