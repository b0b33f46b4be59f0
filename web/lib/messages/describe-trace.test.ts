import { expect, test } from 'vitest'
import type { ConsideredPassage, RetrievalTrace } from '#contract/trace.ts'
import { describeTrace } from './describe-trace.ts'
import { describeAddedWords, describeCut, describeScores, describeSteps } from './describe-trace-facts.ts'

const passage: ConsideredPassage = {
  documentId: '6f1c0f5e-1111-4111-8111-111111111111',
  filename: 'lease.pdf',
  page: 1,
  start: 0,
  end: 10,
  score: 0.98765,
  scores: { words: 12.3456, nearness: 0, meaning: 0.4567 },
  cut: null,
}
const trace: RetrievalTrace = {
  scope: 'passages',
  query: 'notice',
  terms: [],
  guessed: [],
  considered: [passage, { ...passage, cut: 'rank' }],
  matched: 40,
  tokens: 100,
  ms: 12.4,
  notes: [],
}

test('the summary counts shown and matched passages', () => {
  expect(describeTrace(trace)).toBe('1 of 40 passages · 12 ms')
  const message = {
    messageId: passage.documentId,
    conversationId: passage.documentId,
    title: null,
    createdAt: '2026-03-04T05:06:07Z',
    score: 2,
    cut: null,
  }
  expect(describeTrace({ ...trace, messages: [message, { ...message, cut: 'rank' }] })).toBe(
    '1 of 40 passages, 1 of 2 messages · 12 ms',
  )
  expect(describeTrace({ ...trace, scope: 'whole', matched: 1 })).toBe('read whole: 1 page · 12 ms')
  expect(describeTrace({ ...trace, scope: 'whole', matched: 120, pages: { read: 80, of: 120 } })).toBe(
    'read whole: 80 of 120 pages · 12 ms',
  )
  expect(describeTrace({ ...trace, considered: [passage, { ...passage, cut: 'room' }] })).toBe(
    '1 of 40 passages, no room for 1 · 12 ms',
  )
  expect(describeTrace(undefined)).toBe('documents not searched')
})

test('names each computed score by its method', () => {
  expect(describeScores(passage)).toBe('words 12.3 · meaning 0.457 · fused 0.988')
  expect(describeScores({ ...passage, scores: { words: 2, nearness: 0.5 }, score: 2.5 })).toBe(
    'words 2 · words near each other 0.5 · ranked by 2.5',
  )
})

test('describes cuts and steps', () => {
  expect(describeCut(null)).toBe('shown to the model')
  expect(describeCut('copy')).toBe('left out: says the same as another')
  expect(
    describeSteps([
      { name: 'found', ms: 3 },
      { name: 'written', ms: 40 },
    ]),
  ).toBe('finding passages 3 ms · writing 40 ms')
})

test('added words are named with the word of the question and where they are from', () => {
  expect(describeAddedWords({ word: 'cop', origin: 'everyday', words: ['policeman', 'police'] })).toBe(
    '“cop” is rare or missing, so policeman, police was looked for too, as another word for the same thing.',
  )
})
