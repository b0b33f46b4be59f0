import { expect, test } from 'vitest'
import { numbered } from '#server/assistant/extractive/quotable.ts'
import { appendSources, numbersOf } from './continuation.ts'

const opening = (documentId: string) => ({
  documentId,
  filename: `${documentId}.pdf`,
  mimetype: 'application/pdf',
  page: 1,
  start: 0,
  end: 5,
  text: 'Begin',
  score: 0,
})

test('documents that the first part of an answer cited keep their numbers in the rest of it', () => {
  const found = ['a', 'b', 'c', 'd'].map(opening)
  const cited = [
    { ...opening('b'), n: 2 },
    { ...opening('d'), n: 4 },
  ]
  const sources = appendSources(cited, numbered(found))
  expect(numbersOf(found, sources)).toEqual([5, 2, 6, 4])
  expect(numbersOf(found, numbered(found))).toEqual([1, 2, 3, 4])
})
