import { expect, test } from 'vitest'
import { errorMessageOr } from './error-message.ts'

test('an error speaks for itself', () => {
  expect(errorMessageOr(new Error('Invalid login credentials'), 'else')).toBe('Invalid login credentials')
})

test.each([new Error(''), new Error('  '), new Error('{}'), new Error('{"msg":""}'), 'a text', undefined])(
  'what says nothing is replaced: %s',
  (error) => {
    expect(errorMessageOr(error, 'else')).toBe('else')
  },
)
