import { expect, test } from 'vitest'
import { NEWEST_FIRST, nextArrangement } from './arrangement.ts'

test('the second press of a column turns its order round', () => {
  expect(nextArrangement(NEWEST_FIRST, 'date')).toEqual({ by: 'date', descending: false })
  expect(nextArrangement(NEWEST_FIRST, 'name')).toEqual({ by: 'name', descending: false })
})
