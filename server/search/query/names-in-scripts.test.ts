import { expect, test } from 'vitest'
import { wordListOf } from '#server/search/text/spelling.ts'
import { findInScripts, lengthsInScripts } from './names-in-scripts.ts'

const WORDS =
  'rostov roster rest restive dolokhov doll washington boston kenya вашингтон машина واشنطن mountain 123'.split(' ')

const find = (name: string) =>
  findInScripts(
    name,
    lengthsInScripts(name).map((length) =>
      wordListOf(
        length,
        WORDS.filter((word) => word.length === length),
      ),
    ),
  ).map(({ term }) => term)

test.each([
  ['ростове', 'rostov'],
  ['долохову', 'dolokhov'],
  ['кения', 'kenya'],
  ['华盛顿', 'washington'],
  ['washington', 'вашингтон'],
  ['washington', 'واشنطن'],
])('%s is written %s in another script', (name, term) => {
  expect(find(name)).toContain(term)
})

test.each(['гора', 'rostov', 'дом', '山', 'стол'])('nothing sounds like %s', (name) => {
  expect(find(name)).toEqual([])
})
