import { describe, expect, test } from 'vitest'

import type { DocumentRow } from '#contract/document.ts'

import { describeSearchHit, describeReadability, describeProgress, documentFacts } from './describe-document.ts'
import { formatSize } from '#contract/format-size.ts'

const row: DocumentRow = {
  id: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11',
  filename: 'handbook.pdf',
  folder: '',
  originalname: 'handbook.pdf',
  mimetype: 'application/pdf',
  size: 2_500_000,
  state: 'ready',
  pages: 312,
  pages_done: 312,
  error: null,
  uploaded_at: '2026-11-21T10:00:00Z',
  series: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11',
  version: 1,
  superseded_at: null,
  space_id: null,
}

describe('describeSearchHit', () => {
  test.each([
    ['the page of the hit', row, 3, 'Page 3 of 312'],
    ['how long it is', row, undefined, '312 pages'],
    ['no page number for a single page', { ...row, pages: 1 }, 1, '1 page'],
    ['the name of its parts', { ...row, mimetype: 'application/vnd.ms-excel', pages: 4 }, 2, 'Sheet 2 of 4'],
    ['the progress of reading', { ...row, state: 'reading', pages_done: 9 } as const, undefined, 'Reading: 9 of 312'],
    ['that it could not be read', { ...row, state: 'failed' } as const, undefined, 'Could not be read'],
  ])('says %s', (_, document, page, words) => {
    expect(describeSearchHit(document, page)).toBe(words)
  })
})

describe('describeProgress', () => {
  test('shows no share while the number of pages is unknown', () => {
    expect(describeProgress({ ...row, state: 'queued', pages: null }).progress).toBeNull()
    expect(describeProgress({ ...row, state: 'reading', pages: null }).progress).toBeNull()
  })

  test('counts pages while reading', () => {
    const reading = describeProgress({ ...row, state: 'reading', pages: 40, pages_done: 10 })
    expect(reading).toEqual({ tone: 'working', text: 'Reading: 10 of 40', progress: 0.25 })
  })

  test('gives the server’s message of a failure', () => {
    const error = { code: 'encrypted', message: 'This PDF is protected by a password.' }
    expect(describeProgress({ ...row, state: 'failed', error }).text).toBe(error.message)
    expect(describeProgress({ ...row, state: 'failed', error: null }).tone).toBe('failed')
  })
})

describe('documentFacts', () => {
  test('names kind, size and number of parts', () => {
    expect(documentFacts(row)).toEqual(['PDF', '2.4 MB', '312 pages'])
    expect(documentFacts({ ...row, mimetype: 'application/vnd.ms-excel', pages: 1 })).toContain('1 sheet')
    expect(documentFacts({ ...row, mimetype: 'image/png', pages: 1 })).toEqual(['Image', '2.4 MB'])
    expect(documentFacts({ ...row, mimetype: 'text/plain', pages: 1 })).toEqual(['Text', '2.4 MB'])
    expect(documentFacts({ ...row, pages: null })).toEqual(['PDF', '2.4 MB'])
  })
})

describe('describeReadability', () => {
  const plain = { pages: 20, by_ocr: 0, unsure: 0, without_text: 0, cut: 0 }

  test('is empty for plain text, for an unknown readability and while reading', () => {
    expect(describeReadability({ ...row, readability: plain })).toEqual([])
    expect(describeReadability({ ...row, readability: null })).toEqual([])
    expect(describeReadability(row)).toEqual([])
    expect(describeReadability({ ...row, state: 'reading', readability: { ...plain, by_ocr: 3 } })).toEqual([])
  })

  test('counts what is not plain text', () => {
    const readability = { pages: 20, by_ocr: 3, unsure: 1, without_text: 2, cut: 1 }
    expect(describeReadability({ ...row, readability })).toEqual([
      '3 of 20 pages by text recognition',
      '1 page unsure',
      '2 pages without text',
      'Cut at the limit',
    ])
  })

  test('gives no number if a remark holds for the whole document', () => {
    const picture = { ...row, mimetype: 'image/png' }
    const one = { ...plain, pages: 1 }
    expect(describeReadability({ ...picture, readability: { ...one, by_ocr: 1, unsure: 1 } })).toEqual([
      'By text recognition',
      'Unsure',
    ])
    expect(describeReadability({ ...picture, readability: { ...one, without_text: 1 } })).toEqual(['No text found'])
  })

  test('uses the format’s name for parts', () => {
    const workbook = { ...row, mimetype: 'application/vnd.ms-excel' }
    expect(describeReadability({ ...workbook, readability: { ...plain, without_text: 1 } })).toEqual([
      '1 sheet without text',
    ])
  })
})

describe('formatSize', () => {
  test.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1023, '1023 bytes'],
    [1024, '1 kB'],
    [49_000, '48 kB'],
    [25 * 1024 * 1024, '25 MB'],
  ])('writes %d as %s', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text)
  })
})
