import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { WordBox } from '#contract/document.ts'

import { passageRectangles } from './passage-boxes.ts'

describe('passageRectangles', () => {
  // "Permit me to\nintroduce you"
  const boxes: WordBox[] = [
    [0, 6, 1000, 500, 900, 120],
    [7, 2, 2000, 530, 300, 80],
    [10, 2, 2400, 510, 250, 100],
    [13, 9, 1000, 700, 1300, 110],
    [23, 3, 2400, 720, 500, 120],
  ]

  test('joins the words of a line, and keeps lines apart', () => {
    expect(passageRectangles(boxes, 0, 26)).toEqual([
      { left: 1000, top: 500, width: 1650, height: 120 },
      { left: 1000, top: 700, width: 1900, height: 140 },
    ])
  })

  test('takes whole words of which the range holds a part, and none that it only borders on', () => {
    expect(passageRectangles(boxes, 8, 14)).toEqual([
      { left: 2000, top: 510, width: 650, height: 100 },
      { left: 1000, top: 700, width: 1300, height: 110 },
    ])
    expect(passageRectangles(boxes, 6, 7)).toEqual([])
    expect(passageRectangles(boxes, 5, 5)).toEqual([])
    expect(passageRectangles(boxes, 40, 50)).toEqual([])
    expect(passageRectangles([], 0, 10)).toEqual([])
  })

  test('leaves the gap between columns free', () => {
    const cells: WordBox[] = [
      [0, 5, 1000, 500, 600, 100],
      [8, 5, 6000, 500, 600, 100],
    ]
    expect(passageRectangles(cells, 0, 13)).toHaveLength(2)
  })

  test('does not let a slanted line grow over the lines beside it', () => {
    const slanted: WordBox[] = Array.from({ length: 10 }, (_, index) => [
      index * 6,
      5,
      1000 + index * 600,
      1000 + index * 40,
      550,
      100,
    ])
    const rectangles = passageRectangles(slanted, 0, 60)
    expect(rectangles.length).toBeGreaterThan(1)
    for (const { height } of rectangles) expect(height).toBeLessThanOrEqual(150)
  })

  test('joins words one under the other where the text lies on its side', () => {
    const sideways: WordBox[] = [
      [0, 6, 500, 1000, 120, 900],
      [7, 5, 510, 2000, 100, 700],
      [13, 6, 700, 1000, 120, 800],
    ]
    expect(passageRectangles(sideways, 0, 19)).toEqual([
      { left: 500, top: 1000, width: 120, height: 1700 },
      { left: 700, top: 1000, width: 120, height: 800 },
    ])
  })

  test('covers every cited word, wherever the words stand', () => {
    const side = fc.integer({ min: 1, max: 2000 })
    const place = fc.integer({ min: 0, max: 8000 })
    const word = fc.record({
      length: fc.integer({ min: 1, max: 9 }),
      left: place,
      top: place,
      width: side,
      height: side,
    })
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.nat(120), fc.nat(120), (words, a, b) => {
        let offset = 0
        const placed = words.map(({ length, left, top, width, height }): WordBox => {
          const box: WordBox = [offset, length, left, top, width, height]
          offset += length + 1
          return box
        })
        const [start, end] = a < b ? [a, b] : [b, a]
        const rectangles = passageRectangles(placed, start, end)
        const cited = placed.filter(([from, length]) => from < end && from + length > start && start < end)
        expect(rectangles.length).toBeLessThanOrEqual(cited.length)
        for (const [, , left, top, width, height] of cited) {
          const holds = rectangles.some(
            (each) =>
              each.left <= left &&
              each.top <= top &&
              each.left + each.width >= left + width &&
              each.top + each.height >= top + height,
          )
          expect(holds).toBe(true)
        }
      }),
    )
  })
})
