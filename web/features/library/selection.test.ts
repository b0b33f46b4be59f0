import { expect, test } from 'vitest'
import type { NamedDocument } from '#contract/document.ts'
import { addRows, changeSelected, extendTo, NOTHING_SELECTED, toggleRow, type Selection } from './selection.ts'

const row = (id: string): NamedDocument => ({ id, filename: `${id}.txt`, folder: '', state: 'ready' })
const ORDER = ['a', 'b', 'c', 'd', 'e'].map(row)
const idsOf = ({ documents }: Selection) => [...documents.keys()].toSorted().join('')

test('a row is selected and taken out again', () => {
  const one = toggleRow(NOTHING_SELECTED, row('b'))
  expect(idsOf(one)).toBe('b')
  expect(idsOf(toggleRow(one, row('b')))).toBe('')
  expect(idsOf(toggleRow(one, row('d')))).toBe('bd')
})

test('a range goes from the last single row, up or down, and keeps what was selected', () => {
  const anchored = toggleRow(toggleRow(NOTHING_SELECTED, row('a')), row('c'))
  expect(idsOf(extendTo(anchored, 'e', ORDER))).toBe('acde')
  expect(idsOf(extendTo(anchored, 'b', ORDER))).toBe('abc')
  expect(idsOf(extendTo(extendTo(anchored, 'd', ORDER), 'e', ORDER))).toBe('acde')
})

test('without a row to go out from, or with one that is gone, a range is the row itself', () => {
  expect(idsOf(extendTo(NOTHING_SELECTED, 'c', ORDER))).toBe('c')
  expect(idsOf(extendTo(toggleRow(NOTHING_SELECTED, row('gone')), 'd', ORDER))).toBe('dgone')
  expect(extendTo(NOTHING_SELECTED, 'gone', ORDER)).toBe(NOTHING_SELECTED)
})

test('rows that are not loaded are selected too, follow their names and drop out when they are deleted', () => {
  const all = addRows(toggleRow(NOTHING_SELECTED, row('b')), [...ORDER, row('z')])
  expect(idsOf(all)).toBe('abcdez')
  const renamed = changeSelected(all, ['z'], (known) => ({ ...known, filename: 'new.txt' }))
  expect(renamed.documents.get('z')?.filename).toBe('new.txt')
  expect(idsOf(changeSelected(renamed, ['z', 'a', 'unknown'], () => null))).toBe('bcde')
  expect(changeSelected(all, ['unknown'], () => null)).toBe(all)
})
