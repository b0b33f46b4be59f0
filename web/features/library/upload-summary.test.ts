import { expect, test } from 'vitest'
import type { DocumentRow } from '#contract/document.ts'
import type { Upload } from './upload-list.ts'
import { allOver, describeUploads, failedFirst, stageOf } from './upload-summary.ts'

const document: DocumentRow = {
  id: 'd', filename: 'a.pdf', originalname: 'a.pdf', mimetype: 'application/pdf', size: 1, state: 'queued',
  pages: null, pages_done: 0, error: null, uploaded_at: '2026-01-01T00:00:00Z', series: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11', version: 1, superseded_at: null,
} // prettier-ignore
const upload = (step: Upload['step']): Upload => ({ key: 'k', zone: 'z', name: 'a.pdf', size: 1, step })
const taken = (state: DocumentRow['state']) => upload({ at: 'taken', document: { ...document, state } })

test('follows the document that the server took', () => {
  expect(stageOf(upload({ at: 'sending', share: 0.5 }))).toBe('under way')
  expect(stageOf(upload({ at: 'refused', message: 'too large' }))).toBe('failed')
  expect(stageOf(upload({ at: 'taken', document: null }))).toBe('read')
  expect(
    ['queued', 'reading', 'ready', 'failed'].map((state) => stageOf(taken(state as DocumentRow['state']))),
  ).toEqual(['under way', 'under way', 'read', 'failed'])
})

test('says what is going on, and what went wrong', () => {
  expect(describeUploads(['under way', 'read'])).toBe('Reading 1 file')
  expect(describeUploads(['under way', 'failed', 'under way'])).toBe('Reading 2 files, 1 could not be read')
  expect(describeUploads(['failed', 'failed', 'read'])).toBe('2 files could not be read')
  expect(describeUploads(['read'])).toBe('1 file ready')
})

const lot = [
  { ...upload({ at: 'taken', document }), key: 'being read' },
  { ...upload({ at: 'taken', document: { ...document, id: 'e', state: 'ready' } }), key: 'read' },
  { ...upload({ at: 'sending', share: 0.2 }), key: 'sending' },
  { ...upload({ at: 'refused', message: 'too large' }), key: 'refused' },
]

test('shows what went wrong before the others, which stay in their order', () => {
  expect(failedFirst(lot).map(({ key }) => key)).toEqual(['refused', 'being read', 'read', 'sending'])
})

test('none is over while others are under way, so that all are told of together', () => {
  expect(allOver(lot)).toEqual([])
  const over = lot.filter(({ key }) => key === 'read' || key === 'refused')
  expect(allOver(over)).toEqual(over)
})
