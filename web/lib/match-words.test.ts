import { expect, test } from 'vitest'
import { bestMatches, matchWords } from './match-words.ts'

test('every word has to be there, whatever the case and the accents', () => {
  expect(matchWords('Café in the Alps', 'ALP cafe')).toBeGreaterThan(0)
  expect(matchWords('Café in the Alps', 'cafe sea')).toBe(0)
})

test('the beginning of the text comes before the beginning of a word, and that before its middle', () => {
  const titles = ['A renewal', 'The new chat', 'New chat']
  expect(bestMatches(titles, (title) => title, 'new')).toEqual(['New chat', 'The new chat', 'A renewal'])
})

test('equally good ones stay in their order, and nothing typed leaves all of them', () => {
  const titles = ['Bees', 'Beavers', 'Ants']
  expect(bestMatches(titles, (title) => title, 'be')).toEqual(['Bees', 'Beavers'])
  expect(bestMatches(titles, (title) => title, ' ')).toEqual(titles)
})
