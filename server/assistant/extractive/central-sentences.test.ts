import { expect, test } from 'vitest'
import { centralSentences } from './central-sentences.ts'
import { sentencesOf } from './sentences.ts'

const read = (text: string) => {
  const source = { n: 1, documentId: 'a', filename: 'a', page: 1, start: 0, end: text.length, text, score: 1 }
  return sentencesOf(source, { text }, source)
}
const chosen = (text: string, count: number) =>
  centralSentences(read(text), 'a', count).map(({ start, end }) => text.slice(start, end))

const FILLER = Array.from({ length: 40 }, (_, index) => `On day ${index} nothing of note was seen by anybody there.`)
const LAMP = 'The lamp on the northern hill burns whale oil through every winter night.'
const KEEPER = 'Its keeper carries whale oil up the hill before every winter storm comes.'
const FERRY = 'The ferry across the sound waits whenever the lamp on the hill is dark.'

test('are those with repeated subjects, in document order', () => {
  const text = ['THE LAMP BOOK', LAMP, ...FILLER.slice(0, 20), KEEPER, ...FILLER.slice(20), FERRY].join('\n\n')
  expect(chosen(text, 3)).toEqual([LAMP, KEEPER, FERRY])
})

test('prefer sentences with new words', () => {
  const twice = (sentence: string) => [sentence, sentence.replace('every', 'each').replace('waits', 'rests')]
  const text = [...twice(LAMP), ...twice(FERRY), ...FILLER].join('\n\n')
  expect(chosen(text, 2)).toEqual([LAMP, FERRY])
})

test('exclude titles, imprints, forms and the ends of cut sentences', () => {
  const beside = [
    'The lamp on the northern hill and its whale oil in winter',
    'Copyright 2004 by the keepers of the lamp on the northern hill and its whale oil.',
    'The lamp on the northern hill was lit by _______ with whale oil on ____ 20__.',
    'lamp on the northern hill burns whale oil through every winter night.',
  ]
  expect(chosen([...beside, LAMP, KEEPER].join('\n\n'), 6)).toEqual([LAMP, KEEPER])
})

test('are empty without sentences', () => {
  expect(chosen('Lamps\n\nOil\n\nWicks', 3)).toEqual([])
})
