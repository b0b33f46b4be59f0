import { expect, test } from 'vitest'

import { columnOf, zoomToRead } from './fit-passage.ts'

const box = (left: number, right: number, top: number, height = 6) => ({ left, right, top, bottom: top + height })

test('a column is as wide as the lines around the passage, and no wider than the gap beside it', () => {
  const lines = [box(30, 170, 90), box(30, 175, 110), box(190, 330, 100), box(30, 330, 400)]
  expect(columnOf([box(60, 120, 100)], lines)).toEqual({ left: 30, right: 175, letterHeight: 6 })
  expect(columnOf([], lines)).toBeNull()
})

test('a narrow pane is filled by the column, until its letters can be read', () => {
  expect(zoomToRead({ left: 40, right: 340, letterHeight: 6 }, 390, 1)).toBeCloseTo(1.22)
  expect(zoomToRead({ left: 40, right: 140, letterHeight: 7 }, 390, 1)).toBe(2)
})

test('the zoom stays where another one is no gain, and never makes a page narrower than the pane', () => {
  expect(zoomToRead({ left: 20, right: 370, letterHeight: 6 }, 390, 1)).toBe(1)
  expect(zoomToRead({ left: 40, right: 140, letterHeight: 6 }, 700, 1)).toBe(1)
  expect(zoomToRead({ left: 0, right: 700, letterHeight: 12 }, 390, 1.5)).toBe(1)
})
