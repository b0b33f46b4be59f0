import { expect, test } from 'vitest'
import { describeTokenCounts } from './describe-token-counts.ts'

test('describes the counts that the provider reported', () => {
  expect(describeTokenCounts(10, null)).toBe('10 in')
  expect(describeTokenCounts(null, null)).toBeUndefined()
})
