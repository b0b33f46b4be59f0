import { expect, test } from 'vitest'
import type { TextItem } from './lines.ts'
import { joinItems } from './text.ts'

const SIZE = 10

const item = (str: string, x: number, y: number, width = (str.length * SIZE) / 2): TextItem => ({
  str,
  transform: [SIZE, 0, 0, SIZE, x, y],
  width,
  height: SIZE,
  hasEOL: false,
  fontName: 'plain',
})

function lineOf(words: readonly string[], y: number): TextItem[] {
  let x = 50
  return words.map((word) => {
    const placed = item(word, x, y)
    x += placed.width
    return placed
  })
}

const read = (items: TextItem[]) => joinItems(items, () => undefined)

test('reads a right-to-left line from the right, and keeps numbers and other words', () => {
  const seen = ['.', 'מלונדון', ' ', 'Alder', ' ', 'Ltd', ' ', 'חברת', ' ', '2026', ' ', 'במרץ', ' ', '14', ' ', 'ביום']
  expect(read(lineOf(seen, 700)).text).toBe('ביום 14 במרץ 2026 חברת Alder Ltd מלונדון.')
})

test('reads numbers separated by a blank from the right in a right-to-left line', () => {
  expect(read(lineOf(['20', ' ', '10', ' ', 'עמודים'], 700)).text).toBe('עמודים 10 20')
})

test('joins single letters into words, in their base forms', () => {
  const { text, items } = read(lineOf(['ﺎ', 'ﻬ', 'ﻴ', 'ﻨ', 'ﺟ'], 700))
  expect(text).toBe('جنيها')
  expect(items.map(([, index]) => index)).toEqual([4, 3, 2, 1, 0])
})

test('keeps a left-to-right line with some right-to-left words', () => {
  expect(read(lineOf(['The word ', 'שלום', ' means peace'], 700)).text).toBe('The word שלום means peace')
})

test('reads stacked characters as columns, from right to left', () => {
  const column = (text: string, x: number) =>
    Array.from(text, (character, index) => ({ ...item(character, x, 700 - index * SIZE, SIZE), hasEOL: true }))
  expect(read([...column('吾輩は猫である', 300), ...column('名前は⼩⻓い︒', 284)]).text).toBe(
    '吾輩は猫である\n名前は小长い。',
  )
})

test('a list of single characters is not a column', () => {
  const items = ['一', '二', '三', '四'].map((character, index) => item(character, 50, 700 - index * 3 * SIZE, SIZE))
  expect(read(items).text.split(/\n+/)).toEqual(['一', '二', '三', '四'])
})
