import { expect, test } from 'vitest'
import { findWordBlocks, headingMark } from './recover-text.ts'

const long = 'A paragraph that is long enough to be told from a title, because it goes on and on and on.'

test('lines of cells are rows of one table, whose empty cells keep their place', () => {
  expect(findWordBlocks(`Before\n\tFood\tCalories\t\nLeaves\tAsh, Elm\t50\t\n\nAfter`)).toEqual([
    { kind: 'paragraph', text: 'Before' },
    { kind: 'table', text: ' | Food | Calories\nLeaves | Ash, Elm | 50' },
    { kind: 'paragraph', text: 'After' },
  ])
})

test('a tab alone makes no table', () => {
  expect(findWordBlocks('Buyer:\tLakeland Electric')).toEqual([{ kind: 'paragraph', text: 'Buyer: Lakeland Electric' }])
})

test('a short line without a full stop before a long one is a heading', () => {
  expect(findWordBlocks(`Scope of it\r${long}\rShort end`)).toEqual([
    { kind: 'heading', text: 'Scope of it' },
    { kind: 'paragraph', text: long },
    { kind: 'paragraph', text: 'Short end' },
  ])
})

test('headings are those with a mark where there are any, besides a title', () => {
  const lines = ['The contract', long, `${headingMark(2)}§ 1 Scope`, 'Short text.', '☒ Annex is enclosed', long]
  expect(findWordBlocks(lines.join('\n'))).toEqual([
    { kind: 'heading', text: 'The contract' },
    { kind: 'paragraph', text: long },
    { kind: 'heading', text: '§ 1 Scope', level: 2 },
    { kind: 'paragraph', text: 'Short text.' },
    { kind: 'list', text: '☒ Annex is enclosed' },
    { kind: 'paragraph', text: long },
  ])
})

test('a mark inside a line is left out, and makes no heading', () => {
  expect(findWordBlocks(`Terms ${headingMark(1)}Deposit`)).toEqual([{ kind: 'paragraph', text: 'Terms Deposit' }])
})

test('bullets of a font of symbols are bullets', () => {
  expect(findWordBlocks('\uf0b7 Oil\n\uf0fc 2 lamps\n– wick\n-5 degrees')).toEqual([
    { kind: 'list', text: '• Oil' },
    { kind: 'list', text: '✓ 2 lamps' },
    { kind: 'list', text: '– wick' },
    { kind: 'paragraph', text: '-5 degrees' },
  ])
})
