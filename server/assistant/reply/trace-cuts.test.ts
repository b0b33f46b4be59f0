import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { RetrievalTrace } from '#contract/trace.ts'
import { markOmittedSources } from './trace-cuts.ts'

const place = { documentId: randomUUID(), filename: 'a.pdf', page: 1 }
const passage = (start: number, cut: RetrievalTrace['considered'][number]['cut'] = null) => ({
  ...{ ...place, start, end: start + 10, score: 1, scores: {}, cut },
})
const message = {
  messageId: randomUUID(),
  conversationId: randomUUID(),
  title: null,
  createdAt: '2026-03-04T05:06:07Z',
  score: 1,
  cut: null,
}
const trace: RetrievalTrace = {
  scope: 'passages',
  query: 'a',
  terms: [],
  guessed: [],
  matched: 9,
  tokens: 9,
  ms: 1,
  notes: [],
  considered: [passage(0), passage(20), passage(30, 'joined'), passage(50, 'rank')],
  messages: [message, { ...message, messageId: randomUUID() }],
}

test('marks only omitted passages, including joined ones', () => {
  const source = { ...place, n: 2, start: 20, end: 40, text: '', score: 1 }
  const said = { ...message, n: 3, position: 1, senderRole: 1 as const, text: '' }
  const { considered, messages } = markOmittedSources(trace, [source, said])
  expect(considered.map(({ cut }) => cut)).toEqual([null, 'room', 'room', 'rank'])
  expect(messages?.map(({ cut }) => cut)).toEqual(['room', null])
})
