import { expect, test } from 'vitest'
import type { AnswerEvidence, WordEvidence } from './answer-evidence.ts'
import { FOREIGN_REASON, judgeAnswer } from './judge-answer.ts'

const word = (text: string, place: WordEvidence['place'], given: Partial<WordEvidence> = {}): WordEvidence => ({
  word: text,
  weight: 0.6,
  place,
  isName: false,
  isAsked: false,
  ...given,
})

const evidence = (given: Partial<AnswerEvidence> = {}): AnswerEvidence => ({
  words: [word('rent', 'quote', { isAsked: true }), word('cellar', 'passage')],
  missingYears: [],
  kind: undefined,
  kindPlace: 'quote',
  isTogether: true,
  isForeign: false,
  ...given,
})

test('a passage with the words, the year, the name and the kind of answer answers', () => {
  expect(judgeAnswer([evidence({ kind: 'amount' })])).toEqual({ answers: true })
})

test('one quotation that answers is enough', () => {
  expect(judgeAnswer([evidence({ missingYears: [2012] }), evidence()]).answers).toBe(true)
})

test.each<[string, Partial<AnswerEvidence>, string]>([
  ['a year', { missingYears: [2012] }, 'the year 2012 does not occur there'],
  [
    'a name',
    { words: [word('rent', 'quote', { isAsked: true }), word('texas', 'nowhere', { isName: true })] },
    '“texas” does not occur there',
  ],
  [
    'an answer of the kind, and what it is about',
    {
      kind: 'amount',
      kindPlace: 'nowhere',
      isTogether: false,
      words: [word('fee', 'document', { isAsked: true }), word('visa', 'quote')],
    },
    'no amount of money is given there',
  ],
  [
    'everything but the subject',
    {
      words: [
        word('mayor', 'nowhere', { isAsked: true }),
        word('elected', 'document', { weight: 0.4 }),
        word('lakeland', 'quote', { isName: true }),
      ],
    },
    '“mayor” does not occur there',
  ],
])('does not answer without %s', (_, missing, reason) => {
  expect(judgeAnswer([evidence(missing)])).toEqual({ answers: false, reason })
})

test('a name or a year of a comparison stands in one of the documents', () => {
  const [lake, hill] = [word('lake', 'quote', { isName: true }), word('hill', 'quote', { isName: true })]
  const one = evidence({ words: [word('rent', 'quote'), lake, { ...hill, place: 'nowhere' }], missingYears: [2012] })
  const other = evidence({ words: [word('rent', 'quote'), { ...lake, place: 'nowhere' }, hill], missingYears: [2013] })
  expect(judgeAnswer([one, other]).answers).toBe(true)
  expect(judgeAnswer([one]).answers).toBe(false)
})

test('of two years, the one that stands nowhere is named', () => {
  const one = evidence({ missingYears: [2020, 2031] })
  const other = evidence({ missingYears: [2031] })
  expect(judgeAnswer([one, other]).reason).toBe('the year 2031 does not occur there')
})

test('words that say little may be missing', () => {
  const words = [word('rent', 'quote', { isAsked: true }), word('simply', 'nowhere', { weight: 0.4 })]
  expect(judgeAnswer([evidence({ words })]).answers).toBe(true)
})

test('in another language than the page, a name or a number that both share answers, and nothing else', () => {
  const missing = word('miete', 'nowhere', { isAsked: true })
  const shared = word('halden', 'quote', { weight: 0.7 })
  expect(judgeAnswer([evidence({ isForeign: true, words: [missing, shared] })]).answers).toBe(true)
  expect(judgeAnswer([evidence({ isForeign: true, words: [missing] })])).toEqual({
    answers: false,
    reason: FOREIGN_REASON,
  })
})

test('a year or an amount of money is looked for in a page of another language too', () => {
  const words = [word('halden', 'quote', { weight: 0.7 })]
  const foreign = (given: Partial<AnswerEvidence>) => judgeAnswer([evidence({ isForeign: true, words, ...given })])
  expect(foreign({ missingYears: [2012] })).toEqual({ answers: false, reason: 'the year 2012 does not occur there' })
  expect(foreign({ kind: 'amount', kindPlace: 'nowhere' })).toEqual({
    answers: false,
    reason: 'no amount of money is given there',
  })
  expect(foreign({ kind: 'amount', kindPlace: 'page' }).answers).toBe(true)
  // "Four weeks after the operation" says when.
  expect(foreign({ kind: 'date', kindPlace: 'nowhere' }).answers).toBe(true)
})

test('without a quotation nothing answers', () => {
  expect(judgeAnswer([])).toEqual({ answers: false })
})
