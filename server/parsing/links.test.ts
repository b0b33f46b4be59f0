import { expect, test } from 'vitest'
import { addressBehind } from './links.ts'

test('words with many brackets take time in proportion to their length', () => {
  const started = performance.now()
  expect(addressBehind(`${')'.repeat(200_000)}x`, 'https://example.org/a')).toBe(' (https://example.org/a)')
  expect(performance.now() - started).toBeLessThan(1_000)
})

test('signs behind an address do not count', () => {
  expect(addressBehind('<https://example.org/a/>).', 'https://example.org/a')).toBe('')
})
