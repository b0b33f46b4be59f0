import { expect, test } from 'vitest'
import { askingRefusal } from './asking.ts'
import type { OwnSpace } from './spaces.ts'

const space: OwnSpace = {
  id: '5a9c2f10-7b1d-4f0e-8c33-2d4e6f8a0b04',
  name: 'Harbour',
  instructions: '',
  color: 'blue',
  default_model: null,
  created_at: '2026-11-27T12:00:00Z',
  archived_at: null,
  role: 'reader',
}

test('a reader asks in new and own conversations, and not in those of others', () => {
  expect(askingRefusal(null, space, 'me')).toBeNull()
  expect(askingRefusal({ uid: 'me' }, space, 'me')).toBeNull()
  expect(askingRefusal({ uid: 'other' }, space, 'me')).toContain('You can read this conversation.')
  expect(askingRefusal({ uid: null }, space, 'me')).not.toBeNull()
})

test('owners and editors go on in conversations of others', () => {
  for (const role of ['owner', 'editor'] as const)
    expect(askingRefusal({ uid: 'other' }, { ...space, role }, 'me')).toBeNull()
})

test('in an archived space no member asks, not even its owner', () => {
  const archived: OwnSpace = { ...space, role: 'owner', archived_at: '2026-11-27T13:00:00Z' }
  expect(askingRefusal(null, archived, 'me')).toContain('is archived')
  expect(askingRefusal({ uid: 'me' }, archived, 'me')).toContain('is archived')
})

test('in Personal, and while the space is not read yet, the server decides', () => {
  expect(askingRefusal({ uid: 'me' }, null, 'me')).toBeNull()
  expect(askingRefusal({ uid: 'other' }, undefined, 'me')).toBeNull()
})
