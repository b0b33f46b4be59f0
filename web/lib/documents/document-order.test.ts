import { expect, test } from 'vitest'
import type { DocumentRow } from '#contract/document.ts'
import { compareDocuments, isNameMatching } from './document-order.ts'

function named(filename: string, uploaded_at: string, id = filename): DocumentRow {
  return {
    id,
    filename,
    folder: '',
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
    space_id: null,
  }
}

const documents = [
  named('Chapter 10.txt', '2026-11-03T10:00:00Z'),
  named('chapter 2.txt', '2026-11-01T10:00:00Z'),
  named('Appendix.txt', '2026-11-02T10:00:00+02:00'),
]
const order = (by: 'name' | 'date', descending: boolean, rows = documents) =>
  rows.toSorted(compareDocuments({ search: '', by, descending })).map(({ id }) => id)

test('sorts by date in both directions', () => {
  expect(order('date', true)).toEqual(['Chapter 10.txt', 'Appendix.txt', 'chapter 2.txt'])
  expect(order('date', false)).toEqual(['chapter 2.txt', 'Appendix.txt', 'Chapter 10.txt'])
})

test('sorts names without regard to case and with numbers as numbers', () => {
  expect(order('name', false)).toEqual(['Appendix.txt', 'chapter 2.txt', 'Chapter 10.txt'])
  expect(order('name', true)).toEqual(['Chapter 10.txt', 'chapter 2.txt', 'Appendix.txt'])
})

test('parts equal times to the microsecond, and what is equal by id in both directions', () => {
  const rows = [
    named('a', '2026-11-03T10:00:00.123456Z', '1'),
    named('a', '2026-11-03T10:00:00.1234+00:00', '2'),
    named('a', '2026-11-03T10:00:00.123Z', '4'),
    named('a', '2026-11-03T10:00:00.123+00:00', '3'),
  ]
  expect(order('date', true, rows)).toEqual(['1', '2', '3', '4'])
  expect(order('date', false, rows)).toEqual(['3', '4', '2', '1'])
  expect(order('name', true, rows)).toEqual(['1', '2', '3', '4'])
})

test('a search ignores the case of all letters, and finds the folder', () => {
  const isFound = (filename: string, search: string, folder = '') => isNameMatching({ folder, filename }, search)
  expect(isFound('ÜBER Éclair.txt', 'über é')).toBe(true)
  expect(isFound('Chapter 10.txt', 'chapter 2')).toBe(false)
  expect(isFound('lease.pdf', '2024/LEASE', 'Contracts/2024')).toBe(true)
  expect(isFound('lease.pdf', '2024/lease')).toBe(false)
})
