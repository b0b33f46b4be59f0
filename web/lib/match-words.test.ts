import { expect, test } from 'vitest'
import { sortByMatch, matchScore } from './match-words.ts'

test('every word has to be there, whatever the case and the accents', () => {
  expect(matchScore('Café in the Alps', 'ALP cafe')).toBeGreaterThan(0)
  expect(matchScore('Café in the Alps', 'cafe sea')).toBe(0)
})

test('the beginning of the text comes before the beginning of a word, and that before its middle', () => {
  const titles = ['A renewal', 'The new chat', 'New chat']
  expect(sortByMatch(titles, (title) => title, 'new')).toEqual(['New chat', 'The new chat', 'A renewal'])
})

test('equally good ones stay in their order, and nothing typed leaves all of them', () => {
  const titles = ['Bees', 'Beavers', 'Ants']
  expect(sortByMatch(titles, (title) => title, 'be')).toEqual(['Bees', 'Beavers'])
  expect(sortByMatch(titles, (title) => title, ' ')).toEqual(titles)
})
