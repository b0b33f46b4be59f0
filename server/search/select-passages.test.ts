import { expect, test } from 'vitest'
import type { FoundPassage, StoredPassage } from './read-passages.ts'
import { representDocuments, withSurroundings } from './select-passages.ts'

const pageText = Array.from({ length: 40 }, (_, index) => `Line ${String(index).padStart(2, '0')} of the page.`).join(
  '\n',
)

function passage(documentId: string, start: number, end: number): StoredPassage {
  const found = { documentId, filename: documentId, page: 1, start, end, text: pageText.slice(start, end) }
  return { number: start, language: 'english', found, pageText }
}

const documentsOf = (passages: readonly StoredPassage[]) => passages.map(({ found }) => found.documentId)

test('where all the best passages are of one document, the best of the next one gets the place before the end', () => {
  const manual = Array.from({ length: 6 }, (_, index) => passage('manual', index * 80, index * 80 + 80))
  const stored = [...manual, passage('letter', 0, 80), passage('letter', 80, 160), passage('note', 0, 80)]
  // Four passages of 80 characters and their markup fit into the share of the best.
  expect(documentsOf(representDocuments(stored, 1_000))).toEqual([
    ...Array.from({ length: 4 }, () => 'manual'),
    'letter',
    'manual',
    'manual',
    'letter',
    'note',
  ])
})

test('where several documents are among the best, the order stays', () => {
  const stored = [passage('a', 0, 80), passage('b', 0, 80), ...Array.from({ length: 6 }, () => passage('a', 80, 160))]
  expect(representDocuments([...stored, passage('c', 0, 80)], 1_000)).toEqual([...stored, passage('c', 0, 80)])
})

test('the best passages come with whole lines around them, and none of another passage twice', () => {
  const stored = [passage('a', 230, 250), passage('a', 345, 368)]
  const passages: FoundPassage[] = stored.map(({ found }) => ({ ...found, score: 1 }))
  const [first, second] = withSurroundings(passages, stored, 4_000)
  expect(first?.text).toBe(pageText.slice(first?.start, first?.end))
  expect(first?.start).toBeLessThan(230)
  expect(first?.end).toBeLessThanOrEqual(second?.start ?? 0)
  expect(second?.start).toBe(first?.end)
  expect(pageText[(first?.start ?? 0) - 1]).toBe('\n')
  expect(pageText[second?.end ?? 0]).toBe('\n')
})

test('a passage that is its whole page stays as it is', () => {
  const stored = [passage('a', 0, pageText.length)]
  const passages: FoundPassage[] = stored.map(({ found }) => ({ ...found, score: 1 }))
  expect(withSurroundings(passages, stored, 4_000)).toEqual(passages)
})
