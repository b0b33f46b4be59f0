import { describe, expect, test } from 'vitest'

import type { DocumentRow } from '#contract/document.ts'

import { describeReading, documentFacts } from './describe-document.ts'
import { formatSize } from './format-size.ts'

const row: DocumentRow = {
  id: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11',
  filename: 'handbook.pdf',
  originalname: 'handbook.pdf',
  mimetype: 'application/pdf',
  size: 2_500_000,
  state: 'ready',
  pages: 312,
  pages_done: 312,
  error: null,
  uploaded_at: '2026-11-21T10:00:00Z',
}

describe('describeReading', () => {
  test('shows no share while the number of pages is unknown', () => {
    expect(describeReading({ ...row, state: 'queued', pages: null }).progress).toBeNull()
    expect(describeReading({ ...row, state: 'reading', pages: null }).progress).toBeNull()
  })

  test('counts pages while reading', () => {
    const reading = describeReading({ ...row, state: 'reading', pages: 40, pages_done: 10 })
    expect(reading).toEqual({ tone: 'working', text: 'Reading: 10 of 40', progress: 0.25 })
  })

  test('gives the reason of a failure in the sentence of the server', () => {
    const error = { code: 'encrypted', message: 'This PDF is protected by a password.' }
    expect(describeReading({ ...row, state: 'failed', error }).text).toBe(error.message)
    expect(describeReading({ ...row, state: 'failed', error: null }).tone).toBe('failed')
  })
})

describe('documentFacts', () => {
  test('names kind, size and the unit that the format has', () => {
    expect(documentFacts(row)).toEqual(['PDF', '2.4 MB', '312 pages'])
    expect(documentFacts({ ...row, mimetype: 'application/vnd.ms-excel', pages: 1 })).toContain('1 sheet')
    expect(documentFacts({ ...row, mimetype: 'image/png', pages: 1 })).toEqual(['Image', '2.4 MB'])
    expect(documentFacts({ ...row, mimetype: 'text/plain', pages: 1 })).toEqual(['Text', '2.4 MB'])
    expect(documentFacts({ ...row, pages: null })).toEqual(['PDF', '2.4 MB'])
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
