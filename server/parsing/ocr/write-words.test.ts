import { expect, test } from 'vitest'
import type { RulingLines } from './ruling-lines.ts'
import type { Word } from './tesseract.ts'
import { boxOf, writeWords } from './write-words.ts'

const NO_LINES: RulingLines = { horizontal: [], vertical: [] }

const word = (text: string, left: number, top: number, line = '1', paragraph = '1'): Word => ({
  text,
  left,
  top,
  width: text.length * 10,
  height: 20,
  confidence: 90,
  line: `${paragraph}.${line}`,
  paragraph,
})

test('preserves lines and paragraphs, and returns the offset of every word', () => {
  const { text, placed } = writeWords(
    [word('One', 0, 0), word('line', 40, 0), word('another', 0, 30, '2'), word('Next', 0, 90, '1', '2')],
    NO_LINES,
  )
  expect(text).toBe('One line\nanother\n\nNext')
  expect(placed.map(({ offset, length }) => text.slice(offset, offset + length))).toEqual([
    'One',
    'line',
    'another',
    'Next',
  ])
})

test('rejoins a hyphenated word', () => {
  const { text, placed } = writeWords([word('reason-', 0, 0), word('ably', 0, 30, '2')], NO_LINES)
  expect(text).toBe('reasonably')
  expect(placed.map(({ offset, length }) => text.slice(offset, offset + length))).toEqual(['reason', 'ably'])
})

test('replaces an em dash between numbers with an en dash', () => {
  const words = [word('15:00', 0, 0), word('—', 60, 0), word('17:00', 80, 0), word('Open—always', 140, 0)]
  expect(writeWords(words, NO_LINES).text).toBe('15:00 – 17:00 Open—always')
})

test('joins touching Korean syllables', () => {
  expect(writeWords([word('저', 0, 0), word('희', 12, 0), word('는', 60, 0)], NO_LINES).text).toBe('저희 는')
})

test('writes no blanks in Japanese, except between columns of a form', () => {
  const words = [word('三月', 0, 0), word('。', 26, 0), word('工事', 46, 0), word('は', 80, 0), word('氏名', 130, 0)]
  expect(writeWords(words, NO_LINES).text).toBe('三月。工事は 氏名')
})

test('joins spaced Thai letters', () => {
  expect(writeWords([word('งา', 0, 0), word('น', 27, 0), word('จะ', 60, 0)], NO_LINES).text).toBe('งาน จะ')
})

test('writes words between ruling lines as cells, row by row', () => {
  const rule = (at: number, to: number) => ({ at, from: 0, to, last: at })
  const rules: RulingLines = {
    horizontal: [0, 100, 200].map((at) => rule(at, 400)),
    vertical: [0, 200, 400].map((at) => rule(at, 200)),
  }
  const words = [
    word('Low', 20, 20),
    word('5', 250, 110, '1', '9'),
    word('Vision', 20, 60, '2'),
    word('Blind', 20, 110, '3'),
    word('4', 250, 20, '4'),
    word('After', 20, 300, '1', '10'),
  ]
  expect(writeWords(words, rules).text).toBe('Low Vision | 4\nBlind | 5\n\nAfter')
})

test('returns boxes in shares of the page for every orientation', () => {
  const placed = { offset: 3, length: 4, word: word('Word', 100, 50) }
  expect(boxOf(placed, (x, y) => ({ x: x / 1_000, y: y / 500 }))).toEqual([3, 4, 1_000, 1_000, 400, 400])
  expect(boxOf(placed, (x, y) => ({ x: 1 - y / 500, y: x / 1_000 }))).toEqual([3, 4, 8_600, 1_000, 400, 400])
})
