import { expect, test } from 'vitest'
import { messageOf } from './errors.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, index) => new Error(`${index}`))

test('an error of several addresses has their messages, four at most', () => {
  expect(messageOf(new AggregateError(numbered(2)))).toBe('0, 1')
  expect(messageOf(new AggregateError(numbered(1_000)))).toBe('0, 1, 2, 3')
  expect(messageOf(new AggregateError([new AggregateError(numbered(3)), ...numbered(2)]))).toBe('0, 1, 2, 0')
  expect(messageOf(new AggregateError(numbered(2), 'both failed'))).toBe('both failed')
})

test('an error that holds itself has a message', () => {
  const own = new AggregateError([])
  own.errors.push(new Error('refused'), own)
  expect(messageOf(own)).toMatch(/^refused, refused/)
})
