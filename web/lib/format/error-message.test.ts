import { expect, test } from 'vitest'
import { errorMessageOr } from './error-message.ts'

test('returns the message of an error', () => {
  expect(errorMessageOr(new Error('Invalid login credentials'), 'else')).toBe('Invalid login credentials')
})

test.each([new Error(''), new Error('  '), new Error('{}'), new Error('{"msg":""}'), 'a text', undefined])(
  'replaces an empty or raw message: %s',
  (error) => {
    expect(errorMessageOr(error, 'else')).toBe('else')
  },
)
