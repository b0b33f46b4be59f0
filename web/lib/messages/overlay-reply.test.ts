import { expect, test } from 'vitest'
import type { ThreadMessage } from './merge-messages.ts'
import type { ReplyView } from './reply-parts.ts'
import { overlayReply } from './overlay-reply.ts'

const answer = (attempt?: number): ThreadMessage => ({
  id: 'a',
  conversation_id: 'c',
  content: 'old',
  sender_role: 2,
  token_in: null,
  author: null,
  token_out: null,
  created_at: '2026-01-01T00:00:00Z',
  metadata: { version: 2, stopped: true, ...(attempt === undefined ? {} : { attempt }) },
  position: 2,
})

const view: ReplyView = {
  replyId: 'r',
  messageId: 'a',
  attempt: 2,
  seq: 3,
  text: 'new',
  reasoning: '',
  tools: [],
  sources: [],
  phase: 'writing',
  error: null,
  buffered: [],
}

test('shows the streamed version in place of the stored answer', () => {
  const { messages, reply, rewriting } = overlayReply([answer(1)], view)
  expect(messages).toMatchObject([{ id: 'a', content: 'new', writing: true, metadata: { version: 2 } }])
  expect(messages[0]?.metadata).not.toHaveProperty('stopped')
  expect([reply, rewriting]).toEqual([null, true])
})

test('shows the stored answer until the first part arrives', () => {
  const stored = [answer()]
  expect(overlayReply(stored, { ...view, seq: -1, text: '' })).toEqual({
    messages: stored,
    reply: null,
    rewriting: true,
  })
})

test('shows the stored answer once this or a later attempt is stored', () => {
  for (const attempt of [2, 3]) {
    const stored = [answer(attempt)]
    expect(overlayReply(stored, view)).toEqual({ messages: stored, reply: null, rewriting: false })
  }
})

test('leaves a reply without a stored answer alone', () => {
  expect(overlayReply([], view)).toEqual({ messages: [], reply: view, rewriting: false })
})
