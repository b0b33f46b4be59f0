import { expect, test } from 'vitest'
import { indexPlainly, plainWords } from './plain-bm25.ts'

test('words as they are written, and pairs of Chinese, Japanese and Korean', () => {
  expect(plainWords('The Lamps, 3台のランプ')).toEqual(['the', 'lamps', '3', '台の', 'のラ', 'ラン', 'ンプ'])
  expect(plainWords('川')).toEqual(['川'])
})

test('the text that holds the rarer word comes first', async () => {
  const { rank } = await indexPlainly([
    { _id: 'a', title: '', text: 'a lamp and a lamp' },
    { _id: 'b', title: '', text: 'a lamp on a table' },
    { _id: 'c', title: '', text: 'a chair' },
  ])
  expect(rank('lamp table')).toEqual(['b', 'a'])
})
