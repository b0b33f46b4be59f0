import { expect, test } from 'vitest'
import { spokenSentences } from './spoken-text.ts'

test('speaks headings, lists and emphasis sentence by sentence', () => {
  const markdown =
    '## The *lamp*\n\nIt stands **there** [1]. It is [lit](https://a.test) &amp; warm.\n\n- First item\n- Second `item`\n'
  expect(spokenSentences(markdown, 'en')).toEqual([
    'The lamp',
    'It stands there.',
    'It is lit & warm.',
    'First item',
    'Second item',
  ])
})

test('skips code, tables and images', () => {
  const markdown = 'Look:\n\n```js\nlet a = 1\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n![alt](https://a.test/x.png)\n'
  expect(spokenSentences(markdown, 'en')).toEqual(['Look:'])
})

test('speaks no markers, but years in brackets', () => {
  expect(spokenSentences('The lamp is lit [1120]. It was new in [2023] [7].', 'en')).toEqual([
    'The lamp is lit.',
    'It was new in [2023].',
  ])
})
