import { expect, test } from 'vitest'
import type { RetrievalTrace } from '#contract/trace.ts'
import { needsOtherWords, parseSearches } from './other-words.ts'

const traced = (trace: Partial<RetrievalTrace>): RetrievalTrace => ({
  scope: 'passages',
  query: 'May I let my granny flat?',
  terms: [],
  guessed: [],
  considered: [],
  matched: 0,
  tokens: 0,
  ms: 0,
  notes: [],
  ...trace,
})

test('a model is asked where little was found or the question has parts', () => {
  expect(needsOtherWords('May I let my granny flat?', traced({ evidence: 0.2 }))).toBe(true)
  expect(needsOtherWords('May I let my granny flat?', traced({ evidence: 0.5 }))).toBe(false)
  expect(needsOtherWords('Which is longer: the lease or the loan?', traced({ evidence: 0.9 }))).toBe(true)
})

test('a model is not asked where nothing was searched, for a whole document, an empty message or a long text', () => {
  expect(needsOtherWords('May I let it?', undefined)).toBe(false)
  expect(needsOtherWords('Summarise the lease.', traced({ scope: 'whole' }))).toBe(false)
  expect(needsOtherWords(' ', traced({ evidence: 0 }))).toBe(false)
  expect(needsOtherWords('word '.repeat(500), traced({ evidence: 0 }))).toBe(false)
  expect(needsOtherWords('Thank you!', traced({ query: 'Thank you!', evidence: 0 }))).toBe(false)
})

test.each([
  ['plain lines', 'accessory dwelling unit\nsecondary suite', ['accessory dwelling unit', 'secondary suite']],
  [
    'bullets and numbers',
    '- one unit\n* two units\n3. three units\n4) four',
    ['one unit', 'two units', 'three units', 'four'],
  ],
  ['quotation marks', '"one unit"\n„zwei“\n«trois»', ['one unit', 'zwei', 'trois']],
  ['blank lines and repetitions', '\n\none unit\n\none unit\n---\n', ['one unit']],
  ['a number that belongs to the search', '2019 budget of the town', ['2019 budget of the town']],
  ['more than six', '1\n2\n3\n4\n5\n6\n7\n8', ['1', '2', '3', '4', '5', '6']],
  ['nothing', '   ', []],
])('searches are read from %s', (_, answer, searches) => {
  expect(parseSearches(answer)).toEqual(searches)
})

test('a search is cut off, not sent on as it comes', () => {
  expect(parseSearches('word '.repeat(1000))[0]).toHaveLength(200)
})
