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
  const origin = {
    id: '0b0c4c1e-4f5a-4b7c-8a51-3f6f6f1f0a01',
    uid: '7f1e0d7a-93f9-4cbb-9c0e-0d3c1a8b2c02',
    title: 'Bees of the Alps',
    model_name: 'alcove-reader',
    started_at: '2026-01-01T00:00:00Z',
    ended_at: null,
    metadata: null,
    pinned: false,
  }
  const branch = { ...origin, id: '3d6a1b52-0a55-4a0e-9f0e-4f5d2c9e3b03', metadata: { branched_from: origin.id } }
  expect(describeBranch(branch, [branch, origin])).toBe('Branch of “Bees of the Alps”')
  expect(describeBranch(branch, [branch])).toBe('Branch of a conversation that was deleted')
  expect(describeBranch(origin, [branch, origin])).toBeNull()
  expect(describeBranch({ ...origin, metadata: { branched_from: 1 } }, [origin])).toBeNull()
})
