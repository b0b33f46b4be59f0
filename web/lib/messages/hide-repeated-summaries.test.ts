import { expect, test } from 'vitest'
import type { ThreadMessage } from './merge-messages.ts'
import { hideRepeatedSummaries } from './hide-repeated-summaries.ts'

const answer = (id: string, summary?: string): ThreadMessage => ({
  id,
  conversation_id: 'c',
  content: id,
  sender_role: 2,
  token_in: null,
  author: null,
  token_out: null,
  created_at: '2026-01-01T00:00:00Z',
  metadata: summary === undefined ? {} : { summary, model: 'm' },
  position: 1,
})

test('keeps each summary on its first answer', () => {
  const shown = hideRepeatedSummaries([
    answer('a'),
    answer('b', '1'),
    answer('c', '1'),
    answer('d', '2'),
    answer('e', '2'),
  ])
  expect(shown.map(({ metadata }) => metadata?.summary)).toEqual([undefined, '1', undefined, '2', undefined])
  expect(shown[2]?.metadata).toEqual({ model: 'm' })
})
