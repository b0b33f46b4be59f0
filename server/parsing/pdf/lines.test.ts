import { expect, test } from 'vitest'
import type { TextItem } from './lines.ts'
import { joinItems } from './text.ts'

const item = (str: string, x: number, y: number, given: { size?: number; width?: number } = {}): TextItem => {
  const { size = 10, width = (str.length * size) / 2 } = given
  const height = str.trim() === '' ? 0 : size
  return { str, transform: [size, 0, 0, size, x, y], width, height, hasEOL: false, fontName: 'plain' }
}

const read = (items: TextItem[]): string => joinItems(items, () => undefined).text

test('inserts letters that were drawn after their right neighbour', () => {
  const blank = item(' ', 80, 700, { width: 15 })
  const items = [item('Iberia:', 45, 700), blank, item('3 %', 95, 700), item('−', 90, 700)]
  expect(read([...items, item('in May', 115, 700)])).toBe('Iberia: −3 % in May')
  expect(joinItems(items, () => undefined).items.map(([, index]) => index)).toEqual([0, 3, 2])
})

test('keeps drawing order for overlaps and right-to-left pages', () => {
  expect(read([item('Wide word', 50, 700), item('over', 60, 700)])).toBe('Wide wordover')
  expect(read([item('שלום', 100, 700), item('עולם', 50, 700)])).toBe('שלום עולם')
})

test('superscripts and subscripts belong to their line, which continues after them', () => {
  const small = { size: 6 }
  expect(
    read([
      item('An area of 84 m', 50, 700),
      item('2', 125, 705, small),
      item(' ', 128, 705, { width: 3 }),
      item('in the', 131, 700),
      item('21', 166, 700),
      item('st', 176, 705, small),
      item('year, and', 186, 700),
      item('CO', 236, 700),
      item('2', 246, 698, small),
      item('too', 253, 700),
    ]),
  ).toBe('An area of 84 m2 in the 21st year, and CO2 too')
})

test('a raised number at the start of a line belongs to it, with or without blanks', () => {
  const note = [item('1', 50, 105, { size: 6 }), item('The contract of the builders.', 60, 100)]
  expect(read([item('Text of the page', 50, 700), ...note])).toBe('Text of the page\n1 The contract of the builders.')
})

test('distant or longer small text is a line of its own', () => {
  expect(read([item('Name', 50, 700), item('x', 90, 705, { size: 6 })])).toBe('Name\nx')
  expect(read([item('Name', 50, 700), item('as it is written', 71, 705, { size: 6 })])).toBe('Name\nas it is written')
})
