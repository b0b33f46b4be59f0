import { expect, test } from 'vitest'
import type { PageBlock } from '#contract/document.ts'
import { joinKeyFigures } from './key-figures.ts'

type Line = readonly [kind: PageBlock['kind'], text: string]

function keyFiguresOf(lines: readonly Line[]): string[] {
  const pageText = lines.map(([, text]) => text).join('\n\n')
  let at = 0
  const blocks = lines.map(([kind, text]): PageBlock => {
    const start = at
    at += text.length + 2
    return { kind, start, end: start + text.length }
  })
  return joinKeyFigures(pageText, blocks)
    .filter(({ isKeyFigure }) => isKeyFigure)
    .map(({ start, end }) => pageText.slice(start, end).replaceAll('\n\n', ' | '))
}

test('labels above their figures', () => {
  expect(
    keyFiguresOf([
      ['heading', 'The largest company'],
      ['paragraph', 'BY MARKET VALUE'],
      ['heading', '`17,81,841 crore'],
      ['paragraph', 'BY REVENUE'],
      ['heading', '€ 4.2 billion'],
      ['paragraph', 'Note: All figures are of the year.'],
    ]),
  ).toEqual(['BY MARKET VALUE | `17,81,841 crore', 'BY REVENUE | € 4.2 billion'])
})

test('labels below their figures', () => {
  expect(
    keyFiguresOf([
      ['heading', '4,2 %'],
      ['paragraph', 'Wachstum des Umsatzes'],
      ['heading', 'CHF 12.5 Mio'],
      ['paragraph', 'Gewinn'],
    ]),
  ).toEqual(['4,2 % | Wachstum des Umsatzes', 'CHF 12.5 Mio | Gewinn'])
})

test.each<readonly [string, Line[]]>([
  [
    'numbered headings',
    [
      ['heading', '3 Results'],
      ['paragraph', 'Method'],
    ],
  ],
  [
    'a year',
    [
      ['heading', 'Report'],
      ['heading', '2022'],
    ],
  ],
  [
    'a figure in a sentence',
    [
      ['paragraph', 'Sales'],
      ['paragraph', 'Sales rose by 4.2 % in a year that was hard for all.'],
    ],
  ],
  [
    'a figure below a sentence',
    [
      ['paragraph', 'We have grown.'],
      ['heading', '4.2 %'],
    ],
  ],
  [
    'rows of a table',
    [
      ['paragraph', 'Sales'],
      ['table', '4.2 %'],
    ],
  ],
])('%s are left alone', (_name, lines) => {
  expect(keyFiguresOf(lines)).toEqual([])
})
