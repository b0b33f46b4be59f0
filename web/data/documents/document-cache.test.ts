import { QueryClient } from '@tanstack/react-query'
import { beforeEach, describe, expect, test } from 'vitest'
import type { DocumentRow } from '#contract/document.ts'
import { applyDocumentChange, cacheDocuments } from './document-cache.ts'
import { onDocumentChange } from './document-changes.ts'
import { documentList } from './paged-documents.ts'
import { documentCountsKey, documentQuery } from './document-queries.ts'

const first: DocumentRow = {
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
const second: DocumentRow = {
  ...first,
  id: '6a0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e12',
  filename: 'b.pdf',
  uploaded_at: '2026-11-21T11:00:00+00:00',
}

let client: QueryClient
const NEWEST = { space: null, search: '', by: 'date', descending: true } as const
const listKey = documentList.query(NEWEST).queryKey
const list = () => client.getQueryData(listKey)?.rows
const one = () => client.getQueryData(documentQuery(first.id).queryKey)

beforeEach(() => {
  client = new QueryClient()
  client.setQueryData(listKey, { rows: [first], hasMore: false })
  client.setQueryData(documentQuery(first.id).queryKey, first)
})

describe('applyDocumentChange', () => {
  test('inserts a new document by date and drops unknown columns', () => {
    applyDocumentChange(client, { eventType: 'INSERT', new: { ...second, owner: 'somebody', sha256: 'x' }, old: {} })
    expect(list()).toEqual([second, first])
  })

  test('applies an update to the list and to the open document', () => {
    const reading = { id: first.id, state: 'reading', pages: 40, pages_done: 3 }
    applyDocumentChange(client, { eventType: 'UPDATE', new: reading, old: { id: first.id } })
    expect(list()).toEqual([{ ...first, ...reading }])
    expect(one()).toEqual({ ...first, ...reading })
  })

  test('a late insert does not undo an update', () => {
    applyDocumentChange(client, { eventType: 'UPDATE', new: { id: first.id, state: 'ready' }, old: {} })
    applyDocumentChange(client, { eventType: 'INSERT', new: first, old: {} })
    expect(list()?.map(({ state }) => state)).toEqual(['ready'])
  })

  test('a deletion removes the document from the list and sets the open document to null', () => {
    applyDocumentChange(client, { eventType: 'DELETE', new: {}, old: { id: first.id } })
    expect(list()).toEqual([])
    expect(one()).toBeNull()
  })

  test('a newer version takes the older one out of the list, but not out of its own view', () => {
    const superseded = { ...first, superseded_at: '2026-11-21T12:00:00Z' }
    applyDocumentChange(client, { eventType: 'UPDATE', new: superseded, old: {} })
    expect(list()).toEqual([])
    expect(one()).toEqual(superseded)
  })

  test('a new name takes a document into the lists that it belongs to', () => {
    const found = documentList.query({ ...NEWEST, search: 'LEASE' }).queryKey
    client.setQueryData(found, { rows: [], hasMore: false })
    applyDocumentChange(client, { eventType: 'UPDATE', new: { ...first, filename: 'Lease.pdf' }, old: {} })
    expect(client.getQueryData(found)?.rows.map(({ id }) => id)).toEqual([first.id])
  })

  test('each change is announced, and outdates the counts', () => {
    client.setQueryData(documentCountsKey, { total: 1, ready: 0, being_read: 1 })
    const announced: unknown[] = []
    const stop = onDocumentChange((ids, change) => announced.push(ids, change(first)))
    applyDocumentChange(client, { eventType: 'UPDATE', new: { id: first.id, state: 'ready' }, old: {} })
    stop()
    expect(announced).toEqual([[first.id], { ...first, state: 'ready' }])
    expect(client.getQueryState(documentCountsKey)?.isInvalidated).toBe(true)
  })

  test('changes nothing that is not loaded', () => {
    const empty = new QueryClient()
    applyDocumentChange(empty, { eventType: 'INSERT', new: first, old: {} })
    expect(empty.getQueryData(listKey)).toBeUndefined()
    applyDocumentChange(empty, { eventType: 'DELETE', new: {}, old: { id: first.id } })
    expect(empty.getQueryCache().find({ queryKey: documentQuery(first.id).queryKey })).toBeUndefined()
  })
})

describe('cacheDocuments', () => {
  test('does not replace a row that live changes have updated', () => {
    applyDocumentChange(client, { eventType: 'UPDATE', new: { id: first.id, state: 'ready' }, old: {} })
    cacheDocuments(client, [first, second])
    expect(list()?.map(({ filename, state }) => [filename, state])).toEqual([
      ['b.pdf', 'queued'],
      ['a.pdf', 'ready'],
    ])
  })
})
