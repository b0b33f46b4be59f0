import { expect, test } from 'vitest'
import { countEdits, guessTerms, lengthsAround, wordListOf } from './spelling.ts'

const vocabularyOf = (...words: string[]) => words.map((word) => wordListOf(word.length, [word]))

test.each([
  ['harbour', 'harbour', 0],
  ['harbour', 'harbuor', 1],
  ['harbour', 'harbor', 1],
  ['harbour', 'harboour', 1],
  ['harbour', 'garbage', 4],
  ['', 'ab', 2],
])('%s and %s are %i edits apart', (one, other, edits) => {
  expect(countEdits(one, other, 4)).toBe(edits)
})

test('counting stops at the limit', () => {
  expect(countEdits('harbour', 'lighthouse', 2)).toBe(3)
})

test('short words are not guessed, longer ones allow more mistakes', () => {
  expect(lengthsAround('cat')).toEqual([])
  expect(guessTerms('lamb', vocabularyOf('lamp', 'limp'))).toEqual([{ term: 'lamp', weight: 0.9, isCorrection: true }])
  expect(guessTerms('goverment', vocabularyOf('government', 'governor', 'lamp'))[0]?.term).toBe('government')
})

test('another ending of the same word counts for less than a mistake', () => {
  expect(guessTerms('użytkowych', vocabularyOf('użytkowego'))).toEqual([
    { term: 'użytkowego', weight: 0.5, isCorrection: false },
  ])
})

test('each word of a length is compared on its own, and one that is in two lists counts once', () => {
  const list = wordListOf(7, ['harbour', 'harvest', 'habitat', 'harbors'])
  expect(guessTerms('harbuor', [list, wordListOf(7, ['harbour'])])).toEqual([
    { term: 'harbour', weight: 0.9, isCorrection: true },
    { term: 'harbors', weight: expect.closeTo(0.6) as number, isCorrection: true },
  ])
})
