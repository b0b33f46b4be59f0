import { expect, test } from 'vitest'
import { weighWord } from './word-weight.ts'

test.each([
  ['invoice', 1],
  ['契约', 1],
  ['カタ', 1],
  ['한국', 1],
  ['の契', 0.3],
  ['けた', 0.3],
  ['は', 0.3],
  ['父', 0.5],
  ['的契', 0.3],
  ['什么', 0],
  ['何', 0],
])('the weight of %s is %d', (word, weight) => expect(weighWord(word)).toBe(weight))
