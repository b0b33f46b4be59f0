import { expect, it } from 'vitest'
import { relevancePercent } from './relevance.ts'

it('is a share of the best score of the answer', () => {
  const sources = [{ score: 8 }, { score: 2 }]
  expect([relevancePercent(8, sources), relevancePercent(2, sources)]).toEqual([100, 25])
})

it('is null without a positive score', () => {
  expect(relevancePercent(0, [{ score: 0 }])).toBeNull()
  expect(relevancePercent(0, [{ score: 8 }])).toBeNull()
  expect(relevancePercent(1, [])).toBeNull()
})
