import { expect, test } from 'vitest'
import { orderScore, wordF1, wordsOf } from './word-score.ts'

test('words are compared without case, and as often as they occur', () => {
  expect(wordF1(wordsOf('The lamp, the lamp.'), wordsOf('the LAMP'))).toBeCloseTo(2 / 3)
  expect(wordF1(wordsOf('oil'), wordsOf('gas'))).toBe(0)
})

test('the order score depends on word order', () => {
  const reference = wordsOf('one two three four')
  expect(wordF1(wordsOf('four three two one'), reference)).toBe(1)
  expect(orderScore(reference, reference)).toBe(1)
  expect(orderScore(wordsOf('four three two one'), reference)).toBe(0.25)
})
