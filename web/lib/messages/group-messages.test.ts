import { expect, it } from 'vitest'
import { groupMessages, type MessageGroup } from './group-messages.ts'
import { temporaryMessage, type ThreadMessage } from './merge-messages.ts'

/** Question and answer in turn. */
const conversation = (from: number, to: number): ThreadMessage[] =>
  Array.from({ length: to - from }, (_, index) => ({
    ...temporaryMessage('c', `words ${from + index}`, `m${from + index}`),
    sender_role: (from + index) % 2 === 0 ? 1 : 2,
  }))

const ids = (groups: readonly MessageGroup[]): (string | undefined)[][] =>
  groups.map(({ messages }) => messages.map(({ pendingId }) => pendingId))

it('keeps question and answer together', () => {
  const groups = groupMessages([], conversation(0, 35))
  expect(groups.length).toBeGreaterThan(1)
  expect(groups.every(({ messages }) => messages[0]?.sender_role === 1)).toBe(true)
  expect(groups.flatMap(({ messages }) => messages)).toHaveLength(35)
})

it('ends a group without a question at the maximum', () => {
  const answers = conversation(0, 200).map((message) => ({ ...message, sender_role: 2 as const }))
  expect(Math.max(...groupMessages([], answers).map(({ messages }) => messages.length))).toBe(40)
})

it('keeps all groups when older messages are prepended', () => {
  const messages = conversation(0, 60)
  const before = groupMessages([], messages.slice(27))
  const after = groupMessages(before, messages)
  expect(after.slice(-before.length)).toEqual(before)
  before.forEach((group, index) => expect(after[after.length - before.length + index]).toBe(group))
  expect(ids(after).flat()).toEqual(messages.map(({ pendingId }) => pendingId))
})

it('changes only the last group when messages are appended', () => {
  const messages = conversation(0, 40)
  const before = groupMessages([], messages.slice(0, 25))
  const after = groupMessages(before, messages.slice(0, 26))
  expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
  expect(after[0]).toBe(before[0])
  expect(after.at(-1)?.key).toBe(before.at(-1)?.key)
})

it('returns the same groups when nothing changed', () => {
  const before = groupMessages([], conversation(0, 25))
  expect(
    groupMessages(
      before,
      before.flatMap(({ messages }) => messages),
    ),
  ).toBe(before)
})
