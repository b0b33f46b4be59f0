import { expect, it } from 'vitest'
import { activeTitle, listTitle, matchesSearch, modelLabel } from './conversation-words.ts'

it('names what has no name', () => {
  expect(listTitle({ title: null })).toBe('Untitled conversation')
  expect(listTitle({ title: ' ' })).toBe('Untitled conversation')
  expect(activeTitle(undefined)).toBe('Conversation')
  expect(modelLabel(null)).toBe('Claude-3')
})

it('searches title and description, whatever the case', () => {
  const row = { title: 'Bees of the Alps', model_name: 'alcove-reader' }
  expect(['BEES', 'reader', ' alps '].map((search) => matchesSearch(row, search))).toEqual([true, true, true])
  expect(matchesSearch(row, 'wasps')).toBe(false)
})
