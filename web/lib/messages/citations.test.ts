import { expect, it } from 'vitest'
import { citedNumbers, citedParts, citedPassages, splitCitations } from './citations.ts'

const known = new Set([1, 2, 12])

it('splits markers from text and drops the space before them', () => {
  expect(splitCitations('Bees dance [1] and sing.[2]', known)).toEqual(['Bees dance', 1, ' and sing.', 2])
})

it('leaves other numbers as they are', () => {
  expect(splitCitations('Array a[0], see [7].', known)).toEqual(['Array a[0], see [7].'])
})

it('splits adjacent markers', () => {
  expect(splitCitations('[1][12]', known)).toEqual([1, 12])
})

it('names each cited source once, in order', () => {
  expect(citedNumbers('a [2] b [1] c [2] d [9]', known)).toEqual([2, 1])
})

it('ignores numbers in code', () => {
  expect(citedNumbers('`a[1]` is\n\n```ts\nb[2]\n```\n\nsaid [12]', known)).toEqual([12])
  expect(citedNumbers('said [12]\n\n```ts\nb[2]', known)).toEqual([12])
})

it('steps from the open part of a passage through the others and back', () => {
  const [first, second] = [1, 2].map((n) => ({
    n,
    documentId: '0b36b4f0-7d9e-4c3c-8f57-2b1c8a7a2a10',
    filename: 'lease.pdf',
    page: n,
    start: 0,
    end: 90,
    text: 'The notice period is three months.',
    score: 1,
    cited: [
      { start: 0, end: 9 },
      { start: 40, end: 60 },
    ],
  }))
  if (first === undefined || second === undefined) throw new Error('two were made')
  const open = citedParts(first).find(({ start }) => start === 40)
  expect(open).toMatchObject({ n: 1, start: 40, end: 60 })
  expect(open && citedPassages(open, [first, second], 'a [2] b [1] c [1]')).toEqual([second, open])
  expect(open && citedPassages(open, [first, second], 'a [2]')).toEqual([open, second])
})

it('a page of a long document is cited, and a year without a source is text', () => {
  expect(splitCitations('Lit [1120], in [2023].', new Set([1120]))).toEqual(['Lit', 1120, ', in [2023].'])
})
