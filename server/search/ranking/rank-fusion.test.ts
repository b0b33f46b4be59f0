import { expect, test } from 'vitest'
import { fuseSearches } from './rank-fusion.ts'

const ranking = (...order: number[]) => ({ order, scoreOf: () => 0, scoresOf: () => ({}), matched: order.length })

test('the first passage of each search comes before those that several searches find later', () => {
  const { order } = fuseSearches(ranking(1, 2, 3, 4), [ranking(9, 2, 3, 4), ranking(8, 2, 3, 4)])
  expect(order.slice(0, 3).toSorted((one, other) => one - other)).toEqual([1, 8, 9])
  expect(order[0]).toBe(1)
  expect(order.slice(3)).toEqual([2, 3, 4])
})

test('one search stays as it is', () => {
  const own = ranking(3, 1, 2)
  expect(fuseSearches(own, [])).toBe(own)
})
