import { expect, it } from 'vitest'
import { activeTitle, describeBranch, listTitle, matchesSearch, modelLabel } from './conversation-labels.ts'

it('names what has no name', () => {
  expect(listTitle({ title: null })).toBe('Untitled conversation')
  expect(listTitle({ title: ' ' })).toBe('Untitled conversation')
  expect(activeTitle(undefined)).toBe('Conversation')
  expect(modelLabel(null, [])).toBe('Claude-3')
})

it('labels a known model by its display name', () => {
  const known = [{ model_identifier: 'alcove-reader', name: 'Alcove Reader' }]
  expect(modelLabel('alcove-reader', known)).toBe('Alcove Reader')
  expect(modelLabel('somewhere/else', known)).toBe('somewhere/else')
  // One that can be chosen has no name in the list of those that have left it.
  expect(modelLabel('lamp', [{ model_identifier: 'lamp' }])).toBe('lamp')
  expect(modelLabel('lamp', [...known, { model_identifier: 'lamp', name: 'Lamp (no longer offered)' }])).toBe(
    'Lamp (no longer offered)',
  )
})

it('labels a model of a removed endpoint by its own name', () => {
  expect(modelLabel('endpoint:a60c3a4d-9851-43cc-aadd-f4017bef0561/org/model:8b', [])).toBe('org/model:8b')
})

it('searches title and description, whatever the case', () => {
  const words = ['Bees of the Alps', 'Alcove Reader']
  expect(['BEES', 'reader', ' alps '].map((search) => matchesSearch(words, search))).toEqual([true, true, true])
  expect(matchesSearch(words, 'wasps')).toBe(false)
})

it('names the origin of a branch, also if it was deleted', () => {
  expect(describeBranch({ title: 'Bees of the Alps' })).toBe('Branch of “Bees of the Alps”')
  expect(describeBranch({ title: ' ' })).toBe('Branch of “Untitled conversation”')
  expect(describeBranch(null)).toBe('Branch of a conversation that was deleted')
})
