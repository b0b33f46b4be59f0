import { describe, expect, test } from 'vitest'

import { cellRange, columnName, linesWithin, sheetLines, textBoxBlocks } from './sheet-lines.ts'

const text = 'Hours\n\nSeason | Warden | Hours\nWinter |  | 8\n\nSummer | Ann'
const at = (words: string) => text.indexOf(words)
const page = {
  page: 1,
  text,
  rows: [
    [at('Season'), 2],
    [at('Winter'), 3],
    [at('Summer'), 9],
  ] as [number, number][],
  columns: [2, 4, 28],
}
const lines = sheetLines(page) ?? []

test('each row has its number and its text', () => {
  expect(lines.map(({ row, start, end }) => [row, text.slice(start, end)])).toEqual([
    [2, 'Season | Warden | Hours'],
    [3, 'Winter |  | 8'],
    [9, 'Summer | Ann'],
  ])
})

test('what follows the last row was written beside the cells, a paragraph each', () => {
  const written = (beside: string, of = lines) => {
    const whole = text + beside
    return textBoxBlocks(whole, of).map(({ start, end }) => whole.slice(start, end))
  }
  expect(written('')).toEqual([])
  expect(written('\n\nCounted by hand\nby Ann\n\nTwice')).toEqual(['Counted by hand\nby Ann', 'Twice'])
  expect(textBoxBlocks('Read me\n\nOnly this', []).map(({ start, end }) => [start, end])).toEqual([[9, 18]])
})

test('a page of which rows or columns are not known has no lines', () => {
  const { rows, columns, ...bare } = page
  expect([sheetLines({ ...bare, rows }), sheetLines({ ...bare, columns }), sheetLines(bare)]).toEqual([
    null,
    null,
    null,
  ])
})

test.each([
  [1, 'A'],
  [26, 'Z'],
  [27, 'AA'],
  [52, 'AZ'],
  [703, 'AAA'],
  [16_384, 'XFD'],
])('column %i is called %s', (column, name) => {
  expect(columnName(column)).toBe(name)
})

describe('the range of a passage', () => {
  test.each([
    ['Ann', 'Ann', 'D9'],
    ['Season', 'Winter', 'B2:AB3'],
    ['Winter', 'Ann', 'B3:AB9'],
    ['arden', 'Hour', 'D2:AB2'],
  ])('from %s to %s is %s', (from, to, range) => {
    expect(cellRange(text, lines, page.columns, { start: at(from), end: text.indexOf(to, at(from)) + to.length })).toBe(
      range,
    )
  })

  test('is none where no cell is touched', () => {
    expect(cellRange(text, lines, page.columns, { start: 0, end: 5 })).toBeNull()
  })

  test.each([
    ['Winter', 'Ann', [1, 3]],
    ['arden', 'Hour', [0, 1]],
    ['Hours\n\n', 'Season', [0, 1]],
  ])('from %s to %s touches the lines %j', (from, to, touched) => {
    expect(linesWithin(lines, { start: at(from), end: text.indexOf(to, at(from)) + to.length })).toEqual(touched)
  })
})
