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

test('labels below their figures, with a heading above', () => {
  expect(
    keyFiguresOf([
      ['heading', 'Key figures'],
      ['heading', '4,2 %'],
      ['paragraph', 'Wachstum des Umsatzes'],
      ['heading', 'CHF 12.5 Mio'],
      ['paragraph', 'Gewinn'],
    ]),
  ).toEqual(['4,2 % | Wachstum des Umsatzes', 'CHF 12.5 Mio | Gewinn'])
})

test('a further label after the last figure, on a page whose labels are above', () => {
  expect(
    keyFiguresOf([
      ['paragraph', 'BY REVENUE'],
      ['heading', '€ 4.2 billion'],
      ['heading', 'Jobs and exports'],
      ['paragraph', 'EXPORTS'],
      ['heading', '€ 1.1 billion'],
      ['paragraph', 'Share of the group'],
      ['paragraph', 'JOBS'],
    ]),
  ).toEqual(['BY REVENUE | € 4.2 billion', 'EXPORTS | € 1.1 billion'])
})

const para = (text: string): Line => ['paragraph', text]
const large = (text: string): Line => ['heading', text]

test.each<readonly [string, Line[]]>([
  ['numbered headings', [large('3 Results'), para('Method')]],
  ['a year', [large('Report'), large('2022')]],
  ['a figure in a sentence', [para('Sales'), para('Sales rose by 4.2 % in a year that was hard for all.')]],
  ['a figure below a sentence', [para('We have grown.'), large('4.2 %')]],
  ['rows of a table', [para('Sales'), ['table', '4.2 %']]],
  ['a figure between two labels', [para('Harbour annual report'), large('€ 4.2 billion'), para('Revenue')]],
  ['figures above labels', [large('€ 4.2 billion'), large('€ 1.1 billion'), para('Revenue'), para('Profit')]],
  ['labels above figures', [para('Revenue'), para('Profit'), large('€ 4.2 billion'), large('€ 1.1 billion')]],
  [
    'labels above some and below others',
    [para('Revenue'), large('€ 4.2 billion'), large('Other figures'), large('€ 1.1 billion'), para('Profit')],
  ],
  ['the number of a section', [para('Obligations of the tenant'), large('3.12 Termination')]],
  ['a date', [para('Minutes'), large('31.12.2023')]],
])('%s are left alone', (_name, lines) => {
  expect(keyFiguresOf(lines)).toEqual([])
})
