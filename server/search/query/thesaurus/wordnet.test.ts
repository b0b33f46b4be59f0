import { expect, test } from 'vitest'
import { relatedWords } from './wordnet.ts'

const textsOf = async (word: string) => (await relatedWords(word)).map(({ text }) => text)

test.each([
  { word: 'sledges', related: 'sleigh' },
  { word: 'craftsmen', related: 'craftsman' },
  { word: 'cop', related: 'policeman' },
  { word: 'corrode', related: 'rust' },
  { word: 'granny flat', related: undefined },
  { word: 'xyzzy', related: undefined },
  { word: 'zymurgy', related: 'zymology' },
  { word: 'aa', related: undefined },
])('$word', async ({ word, related }) => {
  const texts = await textsOf(word)
  if (related === undefined) expect(texts).toEqual([])
  else expect(texts).toContain(related)
  expect(texts).not.toContain(word)
})

test('synonyms weigh more than hypernyms', async () => {
  const weights = new Map((await relatedWords('sledge')).map(({ text, weight }) => [text, weight]))
  expect(weights.get('sled')).toBeGreaterThan(weights.get('vehicle') ?? 1)
})
