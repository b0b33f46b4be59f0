import { expect, test } from 'vitest'
import type { DocumentCounts, DocumentRow } from '#contract/document.ts'
import type { Upload } from './upload-list.ts'
import { allOver, announceUploads, describeUploads, failedFirst, progressOf, stageOf } from './upload-summary.ts'

const document: DocumentRow = {
  id: 'd', filename: 'a.pdf', folder: '', originalname: 'a.pdf', mimetype: 'application/pdf', size: 1, state: 'queued',
  pages: null, pages_done: 0, error: null, uploaded_at: '2026-01-01T00:00:00Z', series: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11', version: 1, superseded_at: null,
  space_id: null,
} // prettier-ignore
const upload = (step: Upload['step']): Upload => ({ key: 'k', zone: 'z', name: 'a.pdf', folder: '', size: 1, step })
const taken = (state: DocumentRow['state'], isNew = true) =>
  upload({ at: 'taken', document: { ...document, state }, isNew })
const sending = upload({ at: 'sending', share: 0.5 })
const refused = upload({ at: 'refused', message: 'too large' })

test('follows the document that the server took', () => {
  expect(stageOf(sending)).toBe('under way')
  expect(stageOf(refused)).toBe('failed')
  expect(stageOf(upload({ at: 'taken', document: null, isNew: true }))).toBe('read')
  expect((['queued', 'reading', 'paused', 'ready', 'failed'] as const).map((state) => stageOf(taken(state)))).toEqual([
    'under way',
    'under way',
    'under way',
    'read',
    'failed',
  ])
})

const described = (uploads: readonly Upload[], counts?: DocumentCounts) =>
  describeUploads(uploads, progressOf(uploads, counts))
const times = (count: number, one: Upload) => Array.from({ length: count }, () => one)

test('says what is going on, and what went wrong', () => {
  expect(described([sending, taken('ready')])).toBe('Reading 1 file')
  expect(described([sending, taken('failed'), taken('reading')])).toBe('Reading 2 files, 1 could not be read')
  expect(described([refused, taken('failed'), taken('ready')])).toBe('2 files could not be read')
  expect(described([taken('ready')])).toBe('1 file ready')
})

test('announces a beginning and an end, and no step between them', () => {
  expect(announceUploads([])).toBe('')
  const steps = [sending, upload({ at: 'sending', share: 0.9 }), taken('queued'), taken('reading')]
  expect(new Set(steps.map((step) => announceUploads([step, taken('ready')])))).toEqual(new Set(['Uploading 2 files']))
  expect(announceUploads([taken('failed'), taken('ready')])).toBe('1 file could not be read')
})

test('counts many, and sums them up at the end', () => {
  expect(described([...times(588, taken('queued')), ...times(411, taken('ready')), taken('failed')])).toBe(
    '412 of 1,000 read, 1 could not be read',
  )
  const over = [...times(19, taken('ready')), ...times(2, taken('ready', false)), taken('failed'), refused, refused]
  expect(described(over)).toBe('24 files: 19 ready, 2 already in your library, 1 could not be read, 2 refused')
})

test('counts the files that another page has sent, as after a reload', () => {
  const counts = { total: 2000, ready: 1500, being_read: 90, paused: 10, queue: 500 }
  expect(progressOf([], counts)).toEqual({ done: 400, total: 500 })
  expect(progressOf([...times(30, sending), refused], counts)).toEqual({ done: 400, total: 530 })
  expect(progressOf(times(3, taken('ready')), { ...counts, being_read: 0, paused: 0, queue: 0 })).toEqual({
    done: 3,
    total: 3,
  })
})

const lot = [
  { ...taken('queued'), key: 'being read' },
  { ...taken('ready'), key: 'read' },
  { ...sending, key: 'sending' },
  { ...refused, key: 'refused' },
]

test('shows what went wrong before the others, which stay in their order', () => {
  expect(failedFirst(lot).map(({ key }) => key)).toEqual(['refused', 'being read', 'read', 'sending'])
})

test('none is over while others are under way, so that all are told of together', () => {
  expect(allOver(lot)).toEqual([])
  const over = lot.filter(({ key }) => key === 'read' || key === 'refused')
  expect(allOver(over)).toEqual(over)
})
