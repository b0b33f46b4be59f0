import { expect, test } from 'vitest'
import { storedContent } from './outcome.ts'

test('text that PostgreSQL cannot hold is stored without the characters that it refuses', () => {
  expect(storedContent('a\0b\ud800')).toBe('ab\ufffd')
})
