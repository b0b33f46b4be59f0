import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeEntry } from '#test/encode-entry.ts'
import { createBatchTerms, type TextToIndex } from './batch-terms.ts'
import { unpackBlock } from './block.ts'
import { eachRun } from './byte-runs.ts'
import { readBlock } from './segment-format.ts'

const word = fc.constantFrom('lamp', 'lamps', 'harbour', 'harbours', 'stone', '12:30', '港口', 'ledger')
const someWords = fc.array(word, { minLength: 1, maxLength: 12 }).map((list) => list.join(' '))
/** Some without any word. */
const words = fc.oneof({ weight: 4, arbitrary: someWords }, fc.constantFrom('', '--', '🙂'))
const text: fc.Arbitrary<TextToIndex> = fc.record({
  filename: words.map((name) => `${name.replaceAll(':', ' ')}.txt`),
  pages: fc.array(
    fc.record({
      page: fc.constant(1),
      text: words,
      headings: fc.option(words.map((heading) => [[0, heading] as const])),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})

/** Lamp and lamps are one term, in each language another one. */
const termOf = (language: string, given: string): string => `${language} ${given.replace(/s$/, '')}`

/** More than the texts have. */
const PASSAGES = 10_000

type Found = Map<number, { count: number; positions: readonly number[] }>

function indexTogether(texts: readonly TextToIndex[]) {
  const batch = createBatchTerms()
  batch.add(texts)
  for (const [language, listed] of batch.words())
    batch.addTerms(
      language,
      listed.map((given) => termOf(language, given)),
    )
  const { documents, segment } = batch.pack()
  const terms = new Map<string, Found>()
  for (const content of eachRun(segment.contents))
    for (const [term, entry] of readBlock(unpackBlock(content).bytes)) {
      const { passages, counts, positions } = decodeEntry(entry, PASSAGES)
      terms.set(
        term,
        new Map(
          passages.map((passage, index) => [passage, { count: counts[index] ?? 0, positions: positions[index] ?? [] }]),
        ),
      )
    }
  return { passages: documents.flatMap(({ passages }) => passages), terms }
}

test('texts that are indexed together have the terms that each has alone, in passages that follow one another', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (texts) => {
      const together = indexTogether(texts)
      const alone = texts.map((one) => indexTogether([one]))
      const expected = new Map<string, Found>()
      let before = 0
      for (const { passages, terms } of alone) {
        for (const [term, ofTerm] of terms)
          for (const [passage, found] of ofTerm)
            expected.set(term, (expected.get(term) ?? (new Map() as Found)).set(before + passage, found))
        before += passages.length
      }
      expect(together.passages).toEqual(alone.flatMap(({ passages }) => passages))
      expect(together.terms).toEqual(expected)
    }),
  )
})

test('texts without words are indexed, with no term', () => {
  const pages = [{ page: 1, text: '!!! 🙂', headings: null }]
  const { passages, terms } = indexTogether([{ filename: '---.txt', pages }])
  expect([passages.length, terms]).toEqual([1, new Map()])
})

test('words of one stem, of headings and of the name of the file are counted as one term', () => {
  const pages = [
    { page: 1, text: 'A lamp, lamps and a lamp.', headings: [[0, 'Lamps']] as const },
    { page: 2, text: 'A harbour at 12:30.', headings: null },
  ]
  const { passages, terms } = indexTogether([{ filename: 'lamp.txt', pages }])
  expect(passages.map(({ page, heading, length }) => ({ page, heading, length }))).toEqual([
    { page: 1, heading: 'Lamps', length: 6 },
    { page: 2, heading: 'Lamps', length: 6 },
  ])
  const found = (term: string) => terms.get([...terms.keys()].find((key) => key.endsWith(term)) ?? '')
  expect(found('lamp')).toEqual(
    new Map([
      [0, { count: 3 + 1 + 2, positions: [1, 2, 5] }],
      [1, { count: 1 + 2, positions: [] }],
    ]),
  )
  expect(found('harbour')).toEqual(new Map([[1, { count: 1, positions: [1] }]]))
  expect(found('time:12:30')).toEqual(new Map([[1, { count: 1, positions: [] }]]))
})
