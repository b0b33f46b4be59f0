import { expect, test } from 'vitest'
import type { PageBlock } from '#contract/document.ts'
import { sentencesOf } from './sentences.ts'

test('knows the headings of a sentence by their levels, not those of the section before', () => {
  const text = 'Friday\nMain\nThe lamp choir\nSunday\nMain\nThe oil band'
  const heading = (title: string, level: number, from = 0): PageBlock => {
    const start = text.indexOf(title, from)
    return { kind: 'heading', start, end: start + title.length, level }
  }
  const body = (line: string): PageBlock => ({
    kind: 'paragraph',
    start: text.indexOf(line),
    end: text.indexOf(line) + line.length,
  })
  const blocks = [
    heading('Friday', 1),
    heading('Main', 2),
    body('The lamp choir'),
    heading('Sunday', 1),
    heading('Main', 2, 25),
    body('The oil band'),
  ]
  const source = {
    n: 1,
    documentId: 'a',
    filename: 'a',
    page: 1,
    start: 0,
    end: text.length,
    text,
    score: 1,
    heading: 'Friday',
  }
  const sentences = sentencesOf(source, { text, blocks }, source)
  expect(sentences.map(({ headingWords }) => headingWords.toSorted())).toEqual([
    ['friday', 'main'],
    ['main', 'sunday'],
  ])
})
