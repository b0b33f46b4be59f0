import { expect, it } from 'vitest'
import { citedNumbers, splitCitations } from './citations.ts'

const known = new Set([1, 2, 12])

it('separates markers from text and takes the space before them away', () => {
  expect(splitCitations('Bees dance [1] and sing.[2]', known)).toEqual(['Bees dance', 1, ' and sing.', 2])
})

it('leaves numbers that are no source as they are', () => {
  expect(splitCitations('Array a[0], see [7].', known)).toEqual(['Array a[0], see [7].'])
})

it('takes neighbours apart', () => {
  expect(splitCitations('[1][12]', known)).toEqual([1, 12])
})

it('names each cited source once, in order', () => {
  expect(citedNumbers('a [2] b [1] c [2] d [9]', known)).toEqual([2, 1])
})

it('takes no number in code for a source', () => {
  expect(citedNumbers('`a[1]` is\n\n```ts\nb[2]\n```\n\nsaid [12]', known)).toEqual([12])
  expect(citedNumbers('said [12]\n\n```ts\nb[2]', known)).toEqual([12])
})
