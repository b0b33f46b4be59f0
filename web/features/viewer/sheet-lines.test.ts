import { describe, expect, test } from 'vitest'

import {
  cellRange,
  columnName,
  holdsPassage,
  joinParts,
  linesWithin,
  sheetLines,
  textBoxBlocks,
} from './sheet-lines.ts'

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

describe('a sheet of which parts are loaded', () => {
  const names = ['Ann', 'Bea', 'Cem', 'Dan', 'Eva', 'Fay']
  const long = `Hours\n\n${names.join('\n')}\n\nCounted by hand`
  const rows = names.map((name, index): [number, number] => [long.indexOf(name), index + 2])
  const part = (first: number, until: number) => {
    const [start = 0] = rows[first] ?? []
    const last: [number, number] = rows.at(-1) ?? [0, 0]
    const end = (rows[until - 1]?.[0] ?? 0) + 3
    return {
      page: 1,
      text: long.slice(start, end),
      rows: rows.slice(first, until),
      columns: [1],
      part: { start, first, widths: [3], count: names.length, name: 'Hours', last, end: long.slice(last[0]) },
    }
  }
  const shown = (...pages: ReturnType<typeof part>[]) => {
    const { text: joined, lines: known } = joinParts(pages)
    return known?.map((line) => line && `${line.row} ${joined.slice(line.start, line.end)}`)
  }

  test('has its last row and text boxes, and the others where they belong', () => {
    expect(shown(part(1, 3))).toEqual([undefined, '3 Bea', '4 Cem', undefined, undefined, '7 Fay'])
    const { text: joined, lines: known } = joinParts([part(1, 3)])
    expect(textBoxBlocks(joined, known ?? []).map(({ start, end }) => joined.slice(start, end))).toEqual([
      'Counted by hand',
    ])
    expect(joined).toHaveLength(long.length)
  })

  test('is the same in whatever order they came, also where they overlap', () => {
    expect(shown(part(2, 5), part(0, 3))).toEqual(['2 Ann', '3 Bea', '4 Cem', '5 Dan', '6 Eva', '7 Fay'])
    expect(joinParts([part(2, 6), part(0, 3)]).text).toBe(long)
    expect(joinParts([part(0, 6), part(2, 3)]).text).toBe(long)
  })

  test('has a passage only where its rows, and the one before, are loaded', () => {
    const { lines: known } = joinParts([part(2, 5)])
    const within = (from: string, to = from) =>
      linesWithin(known ?? [], { start: long.indexOf(from), end: long.indexOf(to) + 3 })
    expect(within('Dan', 'Eva')).toEqual([3, 5])
    for (const name of ['Ann', 'Cem']) expect(within(name)).toEqual([0, 0])
    const holds = (from: string, to = from) =>
      holdsPassage(part(2, 5), { start: long.indexOf(from), end: long.indexOf(to) + 3 })
    expect([holds('Dan', 'Eva'), holds('Dan'), holds('Counted')]).toEqual([true, true, true])
    expect([holds('Ann'), holds('Cem'), holds('Dan', 'Fay')]).toEqual([false, false, false])
  })
})
