import { expect, test } from 'vitest'
import { messageOr } from './error-message.ts'

test('an error speaks for itself', () => {
  expect(messageOr(new Error('Invalid login credentials'), 'else')).toBe('Invalid login credentials')
})

test.each([new Error(''), new Error('  '), new Error('{}'), new Error('{"msg":""}'), 'a text', undefined])(
  'what says nothing is replaced: %s',
  (error) => {
    expect(messageOr(error, 'else')).toBe('else')
  },
)
