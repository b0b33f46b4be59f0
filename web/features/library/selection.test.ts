import { expect, test } from 'vitest'
import { extendTo, NOTHING_SELECTED, toggleAll, toggleRow, type Selection } from './selection.ts'

const ORDER = ['a', 'b', 'c', 'd', 'e']
const idsOf = ({ ids }: Selection) => [...ids].toSorted().join('')

test('a row is selected and taken out again', () => {
  const one = toggleRow(NOTHING_SELECTED, 'b')
  expect(idsOf(one)).toBe('b')
  expect(idsOf(toggleRow(one, 'b'))).toBe('')
  expect(idsOf(toggleRow(one, 'd'))).toBe('bd')
})

test('a range goes from the last single row, up or down, and keeps what was selected', () => {
  const anchored = toggleRow(toggleRow(NOTHING_SELECTED, 'a'), 'c')
  expect(idsOf(extendTo(anchored, 'e', ORDER))).toBe('acde')
  expect(idsOf(extendTo(anchored, 'b', ORDER))).toBe('abc')
  expect(idsOf(extendTo(extendTo(anchored, 'd', ORDER), 'e', ORDER))).toBe('acde')
})

test('without a row to go out from, or with one that is gone, a range is the row itself', () => {
  expect(idsOf(extendTo(NOTHING_SELECTED, 'c', ORDER))).toBe('c')
  expect(idsOf(extendTo(toggleRow(NOTHING_SELECTED, 'gone'), 'd', ORDER))).toBe('dgone')
  expect(extendTo(NOTHING_SELECTED, 'gone', ORDER)).toBe(NOTHING_SELECTED)
})

test('all are selected, and none where all were', () => {
  const all = toggleAll(toggleRow(NOTHING_SELECTED, 'b'), ORDER)
  expect(idsOf(all)).toBe('abcde')
  expect(idsOf(toggleAll(all, ORDER))).toBe('')
})
