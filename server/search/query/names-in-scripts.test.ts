import { expect, test } from 'vitest'
import { wordListOf } from '#server/search/text/spelling.ts'
import { findInScripts, lengthsInScripts } from './names-in-scripts.ts'

const WORDS =
  'rostov roster rest dolokhov doll washington boston kenya kenyan вашингтон машина واشنطن mountain revenue ravine'.split(
    ' ',
  )
/** Words of all lengths, as if the question had many names. */
const VOCABULARY = Array.from({ length: 30 }, (_, length) =>
  wordListOf(
    length,
    WORDS.filter((word) => word.length === length),
  ),
)

const find = (name: string) => findInScripts(name, VOCABULARY).map(({ term }) => term)

test.each([
  ['ростове', ['rostov']],
  ['долохову', ['dolokhov']],
  ['кения', ['kenya']],
  ['华盛顿', ['washington', 'вашингтон', 'واشنطن']],
  ['ワシントン', ['washington', 'вашингтон', 'واشنطن']],
  ['washington', ['вашингтон', 'واشنطن']],
  ['машину', []],
  ['стол', []],
  ['ромашка', []],
  ['합니다', []],
])('other scripts write %s as %j', (name, terms) => {
  expect(find(name).toSorted()).toEqual(terms.toSorted())
})

test('only words of about the length of the name are compared', () => {
  expect(lengthsInScripts('ростов')).toEqual([3, 4, 5, 6, 7, 8, 9])
  expect(lengthsInScripts('вашингтон').at(-1)).toBe(18)
})

test('a text that is too long for a word is not compared', () => {
  const text = '马'.repeat(1_900)
  expect(lengthsInScripts(text)).toEqual([])
  expect(findInScripts(text, VOCABULARY)).toEqual([])
})
