import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { wordsOf } from '#server/documents/tokenizer.ts'
import { chooseQuotes, splitSentences, writeReading, type Written } from './reader.ts'

const PAGE = `The gap is especially large when k is
small (e.g., 78.4% vs. 59.1% for top-20 accuracy). Dr. A. Lee dis-
agrees. Results follow.

A new paragraph about lamps`

const sentencesIn = (text: string) => splitSentences(text).map(({ start, end }) => text.slice(start, end))

test('keeps sentences whole over line breaks, abbreviations and initials', () => {
  expect(sentencesIn(PAGE)).toEqual([
    'The gap is especially large when k is\nsmall (e.g., 78.4% vs. 59.1% for top-20 accuracy).',
    'Dr. A. Lee dis-\nagrees.',
    'Results follow.',
    'A new paragraph about lamps',
  ])
})

test('cuts what is longer than any sentence', () => {
  expect(sentencesIn('word '.repeat(400)).every((sentence) => sentence.length <= 600)).toBe(true)
})

function reading(question: string, pages: readonly string[]) {
  const sentences = pages.flatMap((pageText, index) => {
    const source = {
      n: 1,
      documentId: randomUUID(),
      filename: 'a.pdf',
      page: index + 1,
      start: 0,
      end: pageText.length,
      text: pageText,
      score: 10 - index,
    }
    return splitSentences(pageText).map((range) => ({
      source,
      ...range,
      pageText,
      words: wordsOf(pageText.slice(range.start, range.end)),
    }))
  })
  const stems = new Map(sentences.flatMap(({ words }) => words).map((word) => [word, [word]]))
  return { questionTerms: wordsOf(question), sentences, stems }
}

test('quotes the sentence that answers, with its exact range', () => {
  const [first] = chooseQuotes(reading('top-20 accuracy gap', [PAGE]))
  expect(first?.text).toBe(PAGE.slice(first?.start, first?.end))
  expect(first?.text).toContain('59.1% for top-20 accuracy')
})

test('quotes nothing where the passages share too little with the question', () => {
  expect(chooseQuotes(reading('vitamin content of broccoli', [PAGE]))).toEqual([])
  expect(chooseQuotes(reading('anything', []))).toEqual([])
})

async function written(given: Partial<Written>): Promise<string> {
  let text = ''
  const nothing = { quotes: [], unreadDocuments: 0, sections: null, hasModels: false }
  for await (const part of writeReading({ ...nothing, ...given })) if (part.type === 'text') text += part.text
  return text
}

test('joins the words that a line end cut, and shows Markdown signs as they are', async () => {
  const [quote] = chooseQuotes(reading('agrees Lee', [PAGE]))
  if (!quote) throw new Error('nothing was quoted')
  expect(await written({ quotes: [quote] })).toContain('> Dr. A. Lee disagrees.')
  expect(await written({ quotes: [{ ...quote, text: 'a * b [1]' }] })).toContain(String.raw`> a \* b \[1\] [1]`)
})

test('says plainly that there is nothing, and what is still being read', async () => {
  expect(await written({})).toBe('Your documents hold nothing that answers this.')
  expect(await written({ unreadDocuments: 1 })).toContain('One of your documents is still being read.')
})

test('says that no model is configured only where none is', async () => {
  const quotes = chooseQuotes(reading('agrees Lee', [PAGE]))
  expect(await written({ quotes })).toContain('No language model is configured')
  expect(await written({ quotes, hasModels: true })).toContain('The Reader only quotes')
  expect(await written({ quotes, hasModels: true })).not.toContain('No language model')
})

test('cuts what is longer than a sentence, but no character in two', () => {
  const text = `a${'𠮷'.repeat(1_000)}`
  const pieces = sentencesIn(text)
  expect(pieces.join('')).toBe(text)
  expect(pieces.length).toBeGreaterThan(2)
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
})
