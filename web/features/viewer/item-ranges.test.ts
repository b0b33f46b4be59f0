import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { ItemRun } from '#contract/document.ts'

import { itemRanges } from './item-ranges.ts'

describe('itemRanges', () => {
  // "The cat sat" + generated space + "on a" + line break + "mat."
  const runs: ItemRun[] = [
    [0, 0, 0, 11],
    [12, 2, 0, 4],
    [17, 3, 0, 4],
  ]

  test('cuts inside one item', () => {
    expect(itemRanges(runs, 4, 7)).toEqual([{ item: 0, from: 4, to: 7 }])
  })

  test('spans several items and leaves out what no item holds', () => {
    expect(itemRanges(runs, 8, 19)).toEqual([
      { item: 0, from: 8, to: 11 },
      { item: 2, from: 0, to: 4 },
      { item: 3, from: 0, to: 2 },
    ])
  })

  test('finds nothing in a generated space, an empty range or beyond the text', () => {
    expect(itemRanges(runs, 11, 12)).toEqual([])
    expect(itemRanges(runs, 5, 5)).toEqual([])
    expect(itemRanges(runs, 40, 50)).toEqual([])
  })

  test('starts inside an item whose first characters were left out of the text', () => {
    expect(itemRanges([[3, 7, 2, 5]], 4, 6)).toEqual([{ item: 7, from: 3, to: 5 }])
  })

  test('joins runs that continue the same item', () => {
    const split: ItemRun[] = [
      [0, 1, 0, 3],
      [3, 1, 3, 3],
    ]
    expect(itemRanges(split, 1, 5)).toEqual([{ item: 1, from: 1, to: 5 }])
  })

  test('returns exactly the characters of the range, for any items in any reading order', () => {
    const item = fc.record({ text: fc.string({ maxLength: 6 }), gap: fc.constantFrom('', ' ', '\n') })
    fc.assert(
      fc.property(fc.array(item, { maxLength: 8 }), fc.nat(60), fc.nat(60), (items, a, b) => {
        const order = items.map((_, index) => index).toReversed()
        let text = ''
        let owned = ''
        const itemRuns: ItemRun[] = []
        for (const index of order) {
          const { text: str, gap } = items[index] ?? { text: '', gap: '' }
          itemRuns.push([text.length, index, 0, str.length])
          owned += '1'.repeat(str.length) + '0'.repeat(gap.length)
          text += str + gap
        }
        const [start, end] = a < b ? [a, b] : [b, a]
        const expected = [...Array(text.length).keys()]
          .filter((offset) => offset >= start && offset < end && owned[offset] === '1')
          .map((offset) => text[offset])
          .join('')
        const found = itemRanges(itemRuns, start, end)
        expect(found.map(({ item: index, from, to }) => items[index]?.text.slice(from, to)).join('')).toBe(expected)
      }),
    )
  })
})
