import { expect, test } from 'vitest'
import { createTextCleaner, toStorableText } from './storable-text.ts'

test('joins a surrogate pair that two pieces share, and replaces an unpaired half', () => {
  const cleaner = createTextCleaner()
  const pieces = ['a\ud83d', '\ude00b', '\ud83d', 'c', '\ude00']
  expect(pieces.map((piece) => cleaner.push(piece))).toEqual(['a', '😀b', '', '\ufffdc', '\ufffd'])
})

test('removes NUL characters', () => {
  expect(toStorableText('a\0b\0')).toBe('ab')
})
