import { describe, expect, test } from 'vitest'
import type { TextItem } from './lines.ts'
import { joinItems } from './text.ts'

const BOLD = 'bold'
const MONO = 'mono'
const fontOf = (name: string) => ({ isBold: name === BOLD, isMono: name === MONO })

const item = (str: string, x: number, y: number, { size = 10, fontName = 'plain' } = {}): TextItem => ({
  str,
  transform: [size, 0, 0, size, x, y],
  width: (str.length * size) / 2,
  height: size,
  hasEOL: false,
  fontName,
})

const prose = (from: number, count: number): TextItem[] =>
  Array.from({ length: count }, (_, index) =>
    item('Plain words that make up the body of the page and go on.', 50, from - index * 12),
  )

const read = (items: TextItem[]) => {
  const { text, blocks, ...rest } = joinItems(items, fontOf)
  return { ...rest, blocks: blocks.map(({ kind, start, end }) => [kind, text.slice(start, end)]), raw: blocks, text }
}

describe('headings of a pdf page', () => {
  test('are larger, or bold and separate, and have a level by size', () => {
    const { blocks, raw, headings } = read([
      item('The lamp', 50, 760, { size: 20 }),
      item('and its keeper', 50, 738, { size: 20 }),
      ...prose(700, 4),
      item('Oil', 50, 620, { fontName: BOLD }),
      ...prose(596, 4),
    ])
    expect(blocks.map(([kind]) => kind)).toEqual(['heading', 'paragraph', 'heading', 'paragraph'])
    expect(headings.map(([, text]) => text)).toEqual(['The lamp and its keeper', 'Oil'])
    expect(raw.flatMap(({ level }) => level ?? [])).toEqual([1, 2])
  })

  test('exclude bold text inside a paragraph', () => {
    const { blocks } = read([...prose(724, 1), item('Bold line of it', 50, 712, { fontName: BOLD }), ...prose(700, 4)])
    expect(blocks.map(([kind]) => kind)).not.toContain('heading')
  })
})

test('bullets of a symbol font make a list of a pdf page', () => {
  const { blocks, text } = read([...prose(700, 4), item('\uf0b7 Oil', 50, 620), item('\uf0d8 Wick', 50, 608)])
  expect(blocks.at(-1)).toEqual(['list', '• Oil\n➢ Wick'])
  expect(text).not.toMatch(/[\uf000-\uf0ff]/)
})

describe('tables of a pdf page', () => {
  const row = (cells: readonly string[], y: number) => cells.map((cell, column) => item(cell, 50 + column * 150, y))
  const table = [row(['Town', 'Rent', 'Year'], 600), row(['Ulm', '500', '2023'], 588), row(['Rom', '640', '2024'], 576)]

  test('are rows of cells with a separate first row', () => {
    const { blocks, raw, text } = read([...prose(700, 4), ...table.flat(), ...prose(540, 4)])
    expect(blocks[1]).toEqual(['table', 'Town\tRent\tYear\nUlm\t500\t2023\nRom\t640\t2024'])
    expect(text.slice(raw[1]?.start, raw[1]?.headerEnd)).toBe('Town\tRent\tYear')
  })

  test('have a title for each column even if titles are close together', () => {
    const at = (places: readonly (readonly [string, number])[], y: number) =>
      places.map(([text, x]) => item(text, x, y))
    const { blocks } = read([
      ...prose(700, 4),
      ...at(
        [
          ['Station', 50],
          ['Area', 92],
          ['Depth', 150],
          ['(m)', 180],
        ],
        600,
      ),
      ...at(
        [
          ['St. 1', 50],
          ['Bay', 92],
          ['28.9', 150],
        ],
        588,
      ),
      ...at(
        [
          ['St. 2', 50],
          ['Sea', 92],
          ['30.3', 150],
        ],
        576,
      ),
      ...prose(540, 4),
    ])
    expect(blocks[1]).toEqual(['table', 'Station\tArea\tDepth (m)\nSt. 1\tBay\t28.9\nSt. 2\tSea\t30.3'])
  })

  test('map every character to its item', () => {
    const items = table.flat()
    const { items: runs, text } = read(items)
    for (const [offset, index, inItem, length] of runs)
      expect(text.slice(offset, offset + length)).toBe(items[index]?.str.slice(inItem, inItem + length))
  })

  test('exclude columns of running text', () => {
    const columns = Array.from({ length: 5 }, (_, line) => [
      item('Running text of the left column, line by line, on and', 50, 600 - line * 12),
      item('Running text of the right column, line by line, and on', 340, 600 - line * 12),
    ]).flat()
    expect(read(columns).blocks.map(([kind]) => kind)).not.toContain('table')
  })
})

test('detects lists by their first characters and code by its font', () => {
  const { blocks } = read([
    ...prose(700, 3),
    item('• The first of two', 50, 640),
    item('• The second', 50, 628),
    item('const lamp = true', 50, 590, { fontName: MONO }),
    item('light(lamp)', 50, 578, { fontName: MONO }),
  ])
  expect(blocks.slice(1)).toEqual([
    ['list', '• The first of two\n• The second'],
    ['code', 'const lamp = true\nlight(lamp)'],
  ])
})

test('reads text once that is drawn again slightly shifted', () => {
  const drawn = (str: string, x: number, y: number) => [0, 0.3, 0.6].map((by) => item(str, x + by, y - by))
  const items = [...drawn('Total', 50, 700), ...drawn('42', 200, 700), item('42', 240, 700), item('Total', 50, 690)]
  const { text, items: runs } = read(items)
  expect(text.split(/\s+/)).toEqual(['Total', '42', '42', 'Total'])
  expect(runs.map(([, index]) => index)).toEqual([0, 3, 6, 7])
})

test('reads letters once that the next item repeats at its start', () => {
  const items = [item('2011', 50, 700), item('2011 report', 50.3, 699.8), item('report', 75.1, 700)]
  const bold = [item('T', 50, 650), item('Th', 50.3, 650.2), item('he', 55.3, 650.2), item('e end', 60.3, 650.2)]
  const { text, items: runs } = read([...items, ...bold])
  expect(text).toBe('2011 report\nThe end')
  expect(runs.map(([, index, offset]) => [index, offset])).toEqual([
    [1, 0],
    [4, 0],
    [6, 0],
  ])
})

test('reads doubled letters twice', () => {
  expect(read([item('bal', 50, 700), item('loon', 65, 700), item('n', 85, 700)]).text).toBe('balloonn')
})

test('blocks do not overlap at a word hyphenated across them', () => {
  const { raw, text } = read([
    item('The light-', 50, 700, { fontName: MONO }),
    item('house stands on a rock.', 50, 688),
  ])
  expect(text).toBe('The lighthouse stands on a rock.')
  expect(raw.map(({ start, end }) => text.slice(start, end))).toEqual(['The light', 'house stands on a rock.'])
})
