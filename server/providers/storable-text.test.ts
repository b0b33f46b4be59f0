import { expect, test } from 'vitest'
import { createTextCleaner, toStorableText } from './storable-text.ts'

test('a pair that two pieces share stays whole, half a one is replaced', () => {
  const cleaner = createTextCleaner()
  const pieces = ['a\ud83d', '\ude00b', '\ud83d', 'c', '\ude00']
  expect(pieces.map((piece) => cleaner.push(piece))).toEqual(['a', '😀b', '', '\ufffdc', '\ufffd'])
})

test('NUL characters are left out', () => {
  expect(toStorableText('a\0b\0')).toBe('ab')
})
