import { expect, test } from 'vitest'
import { describeEvent } from './describe-event.ts'

const names: Record<string, string> = { a: 'Ada', b: 'Bob' }
const nameOf = (id: string | null): string => names[id ?? ''] ?? 'A former member'
const event = { id: 1, actor: 'a', subject: 'b', created_at: '2026-11-27T12:00:00Z' }

test.each([
  ['created', {}, 'Ada created the space'],
  ['changed', { name: 'Harbour' }, 'Ada named the space “Harbour”'],
  ['changed', { name: null, instructions: true }, 'Ada changed the instructions'],
  ['changed', {}, 'Ada changed the settings'],
  ['invited', { email: 'cy@example.test', role: 'reader' }, 'Ada invited cy@example.test (reader)'],
  ['joined', { role: 'editor' }, 'Bob joined (editor)'],
  ['role_changed', { from: 'reader', to: 'editor' }, 'Ada changed Bob from reader to editor'],
  ['removed', {}, 'Ada removed Bob'],
  ['left', {}, 'Bob left'],
  ['document_moved_in', { name: 'lease.pdf' }, 'Ada moved lease.pdf here'],
  ['conversation_moved_out', {}, 'Ada moved a conversation out'],
  ['key_added', { name: 'openai' }, 'Ada: key added openai'],
])('%s %o', (kind, detail, sentence) => {
  expect(describeEvent({ ...event, kind, detail }, nameOf)).toBe(sentence)
})

test('a person who is gone has no name', () => {
  expect(describeEvent({ ...event, actor: null, kind: 'created', detail: {} }, nameOf)).toBe(
    'A former member created the space',
  )
})
