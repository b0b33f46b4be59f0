import { expect, test } from 'vitest'
import { blocksOfWordText } from './word-text.ts'

const long = 'A paragraph that is long enough to be told from a title, because it goes on and on and on.'

test('lines of cells are rows of one table, whose empty cells keep their place', () => {
  expect(blocksOfWordText(`Before\n\tFood\tCalories\t\nLeaves\tAsh, Elm\t50\t\n\nAfter`)).toEqual([
    { kind: 'paragraph', text: 'Before' },
    { kind: 'table', text: ' | Food | Calories\nLeaves | Ash, Elm | 50' },
    { kind: 'paragraph', text: 'After' },
  ])
})

test('a tab alone makes no table', () => {
  expect(blocksOfWordText('Buyer:\tLakeland Electric')).toEqual([
    { kind: 'paragraph', text: 'Buyer: Lakeland Electric' },
  ])
})

test('a short line without a full stop before a long one is a heading', () => {
  expect(blocksOfWordText(`Scope of it\r${long}\rShort end`)).toEqual([
    { kind: 'heading', text: 'Scope of it' },
    { kind: 'paragraph', text: long },
    { kind: 'paragraph', text: 'Short end' },
  ])
})
