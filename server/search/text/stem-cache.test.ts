import { expect, test } from 'vitest'
import { createStemCache } from './stem-cache.ts'

const words = (count: number, prefix = ''): [words: string[], stems: string[]] => {
  const stems = Array.from({ length: count }, (_, index) => `${prefix}${index}`)
  return [stems.map((stem) => `${stem}s`), stems]
}

test('returns stems of words', () => {
  const cache = createStemCache(10)
  const dictionary = cache.add('english', ['lamps', 'the'], ['lamp', 'the'])
  expect([...dictionary]).toEqual([
    ['lamps', 'lamp'],
    ['the', 'the'],
  ])
  expect(cache.get('english')).toBe(dictionary)
  expect(cache.get('german').size).toBe(0)
})

test('asked words are returned after the cache has dropped them', () => {
  const cache = createStemCache(3)
  const before = cache.add('english', ['lamps', 'boats'], ['lamp', 'boat'])
  const asked = { words: ['boats', 'tides'], before }
  expect([...cache.add('english', ['tides', 'waves'], ['tide', 'wave'], asked)]).toEqual([
    ['boats', 'boat'],
    ['tides', 'tide'],
    ['waves', 'wave'],
  ])
})

test('all languages share one limit', () => {
  const cache = createStemCache(100)
  for (let language = 0; language < 30; language += 1) {
    for (let document = 0; document < 5; document += 1) {
      cache.add(`language ${language}`, ...words(9, `${document} `))
      expect(cache.size).toBeLessThanOrEqual(100)
    }
  }
})

test('more words than the limit are returned, but not held', () => {
  const cache = createStemCache(100)
  expect(cache.add('english', ...words(101)).size).toBe(101)
  expect(cache.size).toBe(0)
})
