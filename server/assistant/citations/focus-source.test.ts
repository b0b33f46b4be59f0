import { expect, test } from 'vitest'
import type { PassageSource } from '#contract/source.ts'
import { truncateSource, focusSource } from './focus-source.ts'
import { createMarkerFilter } from './markers.ts'

const source = (text: string, start = 0) => ({
  n: 1,
  documentId: '0b36b4f0-7d9e-4c3c-8f57-2b1c8a7a2a10',
  filename: 'sales.xlsx',
  page: 1,
  start,
  end: start + text.length,
  text,
  score: 1,
})

function focus(given: PassageSource, answer: string): PassageSource {
  const filter = createMarkerFilter(new Set([1]))
  const text = filter.push(answer) + filter.end()
  return focusSource(given, text, filter.cited.get(1))
}

const ROWS = ['Brand | Sales', ...Array.from({ length: 200 }, (_, row) => `Brand ${row} | ${9000 + row * 13},500`)]
const SHEET = ROWS.join('\n')

test.each([
  ['a row', 'Last year Brand 150 had sales of 10950,500 [1].', 'Brand 150 | 10950,500'],
  [
    'the row of the sentence that cites it',
    'Brand 20 is old. Brand 77 is new [1]. Brand 30 is gone.',
    'Brand 77 | 10001,500',
  ],
  ['the row of a line in a list', '- Brand 9: good\n- Brand 140: better. [1]\n- Brand 8', 'Brand 140 | 10820,500'],
])('marks %s that the answer speaks of, and nothing around it', (_name, answer, row) => {
  const focused = focus(source(SHEET, 5), answer)
  expect(focused.text).toBe(row)
  expect(SHEET.slice(focused.start - 5, focused.end - 5)).toBe(row)
})

test('marks the sentence of a long paragraph, in any script', () => {
  const rain = 'It rained for days, and nobody went out. '.repeat(12)
  const told = `${rain}The keeper left on 7 June with Dr. Lee. ${rain}`
  expect(focus(source(told), 'He left in June, on the 7th [1].').text).toContain('The keeper left on 7 June')
  const chinese = `${'外面下雨。'.repeat(60)}守灯人六月离开了灯塔。${'没有人出门。'.repeat(60)}`
  expect(focus(source(chinese), '守灯人六月离开 [1]').text).toBe('守灯人六月离开了灯塔。')
})

test('marks the part for each marker where markers cite several parts of one page', () => {
  const answer = 'In `[1]` Brand 9 was good [1].\n\nBrand 140 was better [1][2], and so it was [1].'
  const focused = focus(source(SHEET, 5), answer)
  const marked = focused.cited?.map(({ start, end }) => SHEET.slice(start - 5, end - 5))
  expect(marked).toEqual(['Brand 9 | 9117,500', 'Brand 140 | 10820,500', focused.text])
  expect(focus(source(SHEET), 'Brand 9 [1]. Brand 9 again [1].')).not.toHaveProperty('cited')
})

test('shows the beginning of a page that is not cited, without cutting a row', () => {
  const begun = truncateSource(source(SHEET))
  expect(focus(source(SHEET), 'Etwas ganz anderes [1].')).toEqual(begun)
  expect(begun.text.length).toBeLessThanOrEqual(400)
  expect(ROWS).toContain(begun.text.split('\n').at(-1))
  expect(truncateSource(source('short')).text).toBe('short')
})
