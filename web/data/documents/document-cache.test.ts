import { QueryClient } from '@tanstack/react-query'
import { beforeEach, describe, expect, test } from 'vitest'
import type { DocumentRow } from '#contract/document.ts'
import { applyDocumentChange, cacheDocuments } from './document-cache.ts'
import { documentQuery, documentsKey, documentsQuery } from './document-queries.ts'

const first: DocumentRow = {
  id: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11',
  filename: 'a.pdf',
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
}
const second: DocumentRow = {
  ...first,
  id: '6a0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e12',
  filename: 'b.pdf',
  uploaded_at: '2026-11-21T11:00:00+00:00',
}

let client: QueryClient
const list = () => client.getQueryData(documentsQuery().queryKey)
const one = () => client.getQueryData(documentQuery(first.id).queryKey)

beforeEach(() => {
  client = new QueryClient()
  client.setQueryData(documentsKey, [first])
  client.setQueryData(documentQuery(first.id).queryKey, first)
})

describe('applyDocumentChange', () => {
  test('puts a new document in its place by date, without columns that the page does not know', () => {
    applyDocumentChange(client, { eventType: 'INSERT', new: { ...second, owner: 'somebody', sha256: 'x' }, old: {} })
    expect(list()).toEqual([second, first])
  })

  test('takes an update into the list and into the open document', () => {
    const reading = { id: first.id, state: 'reading', pages: 40, pages_done: 3 }
    applyDocumentChange(client, { eventType: 'UPDATE', new: reading, old: { id: first.id } })
    expect(list()).toEqual([{ ...first, ...reading }])
    expect(one()).toEqual({ ...first, ...reading })
  })

  test('an insert that comes late does not undo an update', () => {
    applyDocumentChange(client, { eventType: 'UPDATE', new: { id: first.id, state: 'ready' }, old: {} })
    applyDocumentChange(client, { eventType: 'INSERT', new: first, old: {} })
    expect(list()?.map(({ state }) => state)).toEqual(['ready'])
  })

  test('a deletion leaves the list without the document and the open document as null', () => {
    applyDocumentChange(client, { eventType: 'DELETE', new: {}, old: { id: first.id } })
    expect(list()).toEqual([])
    expect(one()).toBeNull()
  })

  test('changes nothing that has not been loaded', () => {
    const empty = new QueryClient()
    applyDocumentChange(empty, { eventType: 'INSERT', new: first, old: {} })
    expect(empty.getQueryData(documentsKey)).toBeUndefined()
  })
})

describe('cacheDocuments', () => {
  test('does not replace a row that live changes have moved on', () => {
    applyDocumentChange(client, { eventType: 'UPDATE', new: { id: first.id, state: 'ready' }, old: {} })
    cacheDocuments(client, [first, second])
    expect(list()?.map(({ filename, state }) => [filename, state])).toEqual([
      ['b.pdf', 'queued'],
      ['a.pdf', 'ready'],
    ])
  })
})
