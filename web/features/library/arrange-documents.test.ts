import { describe, expect, test } from 'vitest'

import type { DocumentRow } from '#contract/document.ts'

import { arrangeDocuments, nextArrangement, NEWEST_FIRST } from './arrange-documents.ts'

function named(filename: string, uploaded_at: string): DocumentRow {
  return {
    id: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11',
    filename,
    originalname: filename,
    mimetype: 'text/plain',
    size: 1,
    state: 'ready',
    pages: 1,
    pages_done: 1,
    error: null,
    uploaded_at,
    series: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11',
    version: 1,
    superseded_at: null,
  }
}

const documents = [
  named('Chapter 10.txt', '2026-11-03T10:00:00Z'),
  named('chapter 2.txt', '2026-11-01T10:00:00Z'),
  named('Appendix.txt', '2026-11-02T10:00:00+02:00'),
]

const order = (text: string, arrangement: Parameters<typeof arrangeDocuments>[2]) =>
  arrangeDocuments(documents, text, arrangement).map(({ filename }) => filename)

describe('arrangeDocuments', () => {
  test('opens with the newest first', () => {
    expect(order('', NEWEST_FIRST)).toEqual(['Chapter 10.txt', 'Appendix.txt', 'chapter 2.txt'])
  })

  test('sorts names without regard to case and with numbers as numbers', () => {
    expect(order('', { by: 'name', descending: false })).toEqual(['Appendix.txt', 'chapter 2.txt', 'Chapter 10.txt'])
  })

  test('filters by a part of the name in any case', () => {
    expect(order('  CHAPTER ', NEWEST_FIRST)).toEqual(['Chapter 10.txt', 'chapter 2.txt'])
  })
})

describe('nextArrangement', () => {
  test('turns the order round on the second press', () => {
    expect(nextArrangement(NEWEST_FIRST, 'date')).toEqual({ by: 'date', descending: false })
    expect(nextArrangement(NEWEST_FIRST, 'name')).toEqual({ by: 'name', descending: false })
  })
})
