import { expect, test } from 'vitest'
import { sortByMatch, matchScore } from './match-words.ts'

test('every word must occur, ignoring case and accents', () => {
  expect(matchScore('Café in the Alps', 'ALP cafe')).toBeGreaterThan(0)
  expect(matchScore('Café in the Alps', 'cafe sea')).toBe(0)
})

test('ranks the start of the text before the start of a word, and that before its middle', () => {
  const titles = ['A renewal', 'The new chat', 'New chat']
  expect(sortByMatch(titles, (title) => title, 'new')).toEqual(['New chat', 'The new chat', 'A renewal'])
})

test('equal entries keep their order, and an empty search keeps all', () => {
  const titles = ['Bees', 'Beavers', 'Ants']
  expect(sortByMatch(titles, (title) => title, 'be')).toEqual(['Bees', 'Beavers'])
  expect(sortByMatch(titles, (title) => title, ' ')).toEqual(titles)
})
