import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSourceList } from './source-list.ts'

const passage = { documentId: randomUUID(), filename: 'a.pdf', page: 1, start: 0, end: 4, text: 'text', score: 1 }
const page = (address: string, text = 'about it') =>
  ({ kind: 'page', address, title: 'A', text, question: '' }) as const

test('continues existing numbers, and numbers each passage or page once', () => {
  const list = createSourceList([{ n: 7, ...passage }])
  expect(list.addPassage(passage).n).toBe(7)
  expect(list.addPassage({ ...passage, start: 9 }).n).toBe(8)
  list.addFinding(page('https://a.test/'))
  list.addFinding({ kind: 'results', words: 'x', results: [
    { title: 'Other', address: 'https://a.test/', snippet: 'again' },
    { title: 'B', address: 'https://b.test/', snippet: 'quoted' },
  ] }) // prettier-ignore
  list.addFinding({ kind: 'failure', tool: 'web', reason: 'away' })
  expect(list.numberOf('https://a.test/')).toBe(9)
  expect(list.all.map(({ n, text }) => [n, text])).toEqual([[7, 'text'], [8, 'text'], [9, 'about it'], [10, 'quoted']]) // prettier-ignore
  expect([...list.numbers]).toEqual([7, 8, 9, 10])
})

test('stores the beginning of a page without splitting a character at its end', () => {
  const list = createSourceList([])
  list.addFinding(page('https://a.test/', `${'x'.repeat(399)}😀`))
  expect(list.all[0]?.text).toBe(`${'x'.repeat(399)}\ufffd`)
})
