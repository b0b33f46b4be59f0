import { expect, it } from 'vitest'
import type { ReplyPart } from '#contract/reply-events.ts'
import { hasGap, mergePart, mergeSnapshot, type ReplyView } from './reply-parts.ts'

const part = (seq: number, text: string, attempt = 1, replyId = 'r'): ReplyPart => ({
  replyId,
  messageId: `${replyId}-answer`,
  attempt,
  seq,
  type: 'text',
  text,
})
const merge = (...parts: ReplyPart[]): ReplyView => {
  const view = parts.reduce<ReplyView | null>(mergePart, null)
  if (view === null) throw new Error('no parts')
  return view
}

it('merges parts in order, whether the first number is 0 or 1', () => {
  expect(merge(part(0, 'a'), part(1, 'b')).text).toBe('ab')
  expect(merge(part(1, 'a'), part(2, 'b')).text).toBe('ab')
})

it('drops repeats', () => {
  expect(merge(part(0, 'a'), part(1, 'b'), part(1, 'b'), part(0, 'a')).text).toBe('ab')
})

it('buffers parts after a gap until the missing part arrives', () => {
  const gap = merge(part(0, 'a'), part(2, 'c'))
  expect([gap.text, hasGap(gap)]).toEqual(['a', true])
  const filled = mergePart(gap, part(1, 'b'))
  expect([filled.text, hasGap(filled)]).toEqual(['abc', false])
})

it('replaces the text by a later attempt and ignores earlier ones', () => {
  const restart: ReplyPart = { ...part(0, '', 2), type: 'restart' }
  expect(merge(part(0, 'old'), restart, part(1, 'old too'), part(1, 'new', 2)).text).toBe('new')
})

it('merges a snapshot, then the parts that arrived meanwhile', () => {
  const early = merge(part(3, 'd'))
  expect([early.text, hasGap(early)]).toEqual(['', true])
  const joined = mergeSnapshot(early, {
    replyId: 'r',
    messageId: 'r-answer',
    attempt: 1,
    seq: 2,
    parts: [part(0, 'a'), part(1, 'b'), part(2, 'c')],
  })
  expect([joined.text, hasGap(joined)]).toEqual(['abcd', false])
})

it('ignores an older snapshot', () => {
  const view = merge(part(0, 'a'), part(1, 'b'))
  expect(mergeSnapshot(view, { replyId: 'r', messageId: 'r-answer', attempt: 1, seq: 0, parts: [part(0, 'a')] })).toBe(
    view,
  )
})

it('keeps the last report of a tool', () => {
  const tool = (seq: number, status: string): ReplyPart => ({
    ...part(seq, ''),
    type: 'tool',
    tool: { name: 'knowledge', status },
  })
  expect(merge(tool(0, 'running'), tool(1, 'done')).tools).toEqual([{ name: 'knowledge', status: 'done' }])
})

it('takes the phase of the last part', () => {
  const error = { code: 'provider', message: 'No answer.', retryable: true }
  expect(merge(part(0, 'a'), { ...part(1, ''), type: 'done' }).phase).toBe('done')
  expect(merge(part(0, 'a'), { ...part(1, ''), type: 'error', error })).toMatchObject({ phase: 'error', error })
})

it('moves text that turned out to be a thought, except for what stood before', () => {
  const thought: ReplyPart = { ...part(2, 'Earlier. '), type: 'thought' }
  const view = merge(part(0, 'Earlier. '), part(1, 'Let me see'), thought, part(3, 'It is 43.'))
  expect(view).toMatchObject({ text: 'Earlier. It is 43.', reasoning: 'Let me see' })
})
