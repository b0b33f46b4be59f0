import { expect, test } from 'vitest'
import { type DefinedSubject, definedSubject } from './definitions.ts'
import { rankSentences } from './score-sentences.ts'
import { sentencesOf } from './sentences.ts'

const BOOKLET = [
  'The operation takes about two hours on most days of the week.',
  'Somebody has to come with you in the morning.',
  'People drive again two weeks after their surgery.',
]

test('a synonym counts where another sentence has the word itself, but less than the word', () => {
  const text = BOOKLET.join('\n\n')
  const source = { n: 1, documentId: '', filename: 'booklet.txt', page: 1, start: 0, end: text.length, text, score: 1 }
  const sentences = sentencesOf(source, { text }, source)
  const words = new Set(sentences.flatMap((sentence) => sentence.words))
  const rank = (otherForms: ReadonlyMap<string, ReadonlyMap<string, number>>) =>
    rankSentences({
      questionParts: [[['drive'], ['operation']]],
      wantsNumber: false,
      sentences,
      stems: new Map([...words].map((word) => [word, [word]])),
      otherForms,
    }).map(({ start, end }) => text.slice(start, end))
  expect(rank(new Map())[0]).toBe(BOOKLET[0])
  expect(rank(new Map([['operation', new Map([['surgery', 0.6]])]]))[0]).toBe(BOOKLET[2])
  expect(rank(new Map([['drive', new Map([['somebody', 0.6]])]])).at(-1)).toBe(BOOKLET[1])
})

test('the definition of a subject comes before sentences that hold more of the question', () => {
  const text = [
    'Figure 3 Column masks shown in DB2',
    'A column mask is a rule for one column.',
    'The DB2 column masks are on.',
  ].join('\n\n')
  const source = { n: 1, documentId: '', filename: 'guide.txt', page: 1, start: 0, end: text.length, text, score: 1 }
  const sentences = sentencesOf(source, { text }, source)
  const words = new Set(sentences.flatMap((sentence) => sentence.words))
  const firstOf = (subject: DefinedSubject | undefined) => {
    const [first] = rankSentences({
      questionParts: [[['column'], ['mask'], ['db2']]],
      wantsNumber: false,
      definedSubject: subject,
      sentences,
      stems: new Map([...words].map((word) => [word, [word.replace(/s$/, '')]])),
    })
    return first && text.slice(first.start, first.end)
  }
  expect(firstOf(undefined)).not.toContain('is a rule')
  expect(firstOf(definedSubject('What is a column mask in DB2?'))).toBe('A column mask is a rule for one column.')
})
