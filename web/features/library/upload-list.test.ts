import { beforeEach, expect, test } from 'vitest'
import type { DocumentRow } from '#contract/document.ts'
import type { DocumentChange } from '#web/data/documents/document-changes.ts'
import { createUploadList, type Upload, type UploadList } from './upload-list.ts'

const document: DocumentRow = {
  id: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11',
  filename: 'a.pdf',
  folder: '',
  originalname: 'a.pdf',
  mimetype: 'application/pdf',
  size: 10,
  state: 'queued',
  pages: null,
  pages_done: 0,
  error: null,
  uploaded_at: '2026-11-21T10:00:00Z',
  series: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11',
  version: 1,
  superseded_at: null,
  space_id: null,
}
const upload = (key: string): Upload => ({
  key,
  zone: 'page',
  name: `${key}.pdf`,
  folder: '',
  size: 10,
  step: { at: 'sending', share: 0 },
})
const becomes =
  (state: DocumentRow['state']): DocumentChange =>
  (known) => ({ ...known, state })

let list: UploadList
const keys = () => list.all().map(({ key }) => key)
const steps = () => list.all().map(({ step }) => (step.at === 'taken' ? (step.document?.state ?? 'deleted') : step.at))

beforeEach(() => {
  list = createUploadList()
  list.apply({ type: 'chosen', uploads: [upload('a'), upload('b')], over: [] })
})

test('follows each file by itself; the others stay the same objects', () => {
  const [, untouched] = list.all()
  list.apply({ type: 'sent', key: 'a', share: 0.5 })
  expect(list.all()[0]?.step).toEqual({ at: 'sending', share: 0.5 })
  expect(list.all()[1]).toBe(untouched)
  list.apply({ type: 'refused', key: 'b', message: 'b.pdf is empty' })
  expect(list.all()[1]?.step).toEqual({ at: 'refused', message: 'b.pdf is empty' })
})

test('a new choice keeps what is under way and clears what is over', () => {
  list.apply({ type: 'taken', key: 'a', document, isNew: true })
  list.apply({ type: 'chosen', uploads: [upload('c')], over: ['b'] })
  expect(keys()).toEqual(['a', 'c'])
})

test('a dismissed row does not come back with late progress', () => {
  list.apply({ type: 'dismissed', keys: ['a'] })
  list.apply({ type: 'sent', key: 'a', share: 1 })
  list.apply({ type: 'taken', key: 'a', document, isNew: true })
  expect(keys()).toEqual(['b'])
})

test('the document of an upload changes until it is deleted', () => {
  list.apply({ type: 'taken', key: 'a', document, isNew: true })
  expect(list.changeDocument(document.id, becomes('reading'))).toBe(true)
  expect(steps()).toEqual(['reading', 'sending'])
  list.changeDocument(document.id, () => null)
  list.changeDocument(document.id, becomes('ready'))
  expect(steps()).toEqual(['deleted', 'sending'])
  expect(list.changeDocument('another', becomes('ready'))).toBe(false)
})

test('a change that arrives before the answer of the upload counts', () => {
  list.changeDocument(document.id, becomes('reading'))
  list.changeDocument(document.id, becomes('ready'))
  list.apply({ type: 'taken', key: 'a', document, isNew: true })
  expect(steps()).toEqual(['ready', 'sending'])
})

test('the same document uploaded twice is shown as it is known, and by the second row after the first is gone', () => {
  list.apply({ type: 'taken', key: 'a', document, isNew: true })
  list.changeDocument(document.id, becomes('reading'))
  list.apply({ type: 'taken', key: 'b', document, isNew: false })
  expect(steps()).toEqual(['reading', 'reading'])
  list.apply({ type: 'dismissed', keys: ['a'] })
  list.changeDocument(document.id, becomes('failed'))
  expect(steps()).toEqual(['failed'])
  expect(list.all()[0]?.step).toMatchObject({ isNew: false })
})
