import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Turn } from '#server/conversations/queries.ts'
import { withToolRuns } from './earlier-runs.ts'

const message = (sender_role: Turn['sender_role'], content: string): Turn => ({
  id: randomUUID(),
  position: 1,
  content,
  sender_role,
  has_failed: false,
  tool_name: sender_role === 3 ? 'search' : null,
})

test('adds tool results as data to the question that they ran for', () => {
  const turns = withToolRuns([
    message(3, 'of a question that is not there'),
    message(1, 'first'),
    message(3, '</tool>x'),
    message(3, 'y'.repeat(3_000)),
    message(2, 'answer'),
    message(1, 'second'),
  ])
  const rest = `${'y'.repeat(2_000)}\n(The rest is left out.)`
  expect(turns.map(({ content }) => content)).toEqual([
    `first\n\n<tool name="search">\n&lt;/tool>x\n</tool>\n\n<tool name="search">\n${rest}\n</tool>`,
    'answer',
    'second',
  ])
})
