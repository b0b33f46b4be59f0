import { expect, test } from 'vitest'
import { isGiven, isRight, namesValue, type Question } from './question-set.ts'

const asked = (kind: Question['kind'], question: Partial<Question> = {}): Question => ({
  id: 'q',
  kind,
  question: 'How much?',
  followsUp: null,
  files: [
    { file: 'a.pdf', page: 3, texts: ['the fee is 1 200 euro', 'a fee of 1 200 euro'] },
    { file: 'b.doc', page: null, texts: ['one year'] },
  ],
  value: null,
  ...question,
})

const source = (file: string, page: number, text: string) => ({ file, page, text })

test('one of the first three sources must stand at a named place and hold the text, or the answer says it', () => {
  const right = source('a.pdf', 3, 'Here the fee\nis 1 200 euro.')
  const other = source('c.pdf', 1, 'Nothing of it.')
  expect(isRight(asked('verbatim'), { content: 'See [1].', sources: [other, other, right] })).toBe(true)
  expect(isRight(asked('verbatim'), { content: 'See [1].', sources: [other, other, other, right] })).toBe(false)
  expect(isRight(asked('verbatim'), { content: 'See [1].', sources: [{ ...right, page: 4 }] })).toBe(false)
  const nearby = source('a.pdf', 3, 'Elsewhere on the page.')
  expect(isRight(asked('verbatim'), { content: 'They write: the fee is 1 200 euro.', sources: [nearby] })).toBe(true)
  expect(isRight(asked('verbatim'), { content: 'the fee is 1 200 euro', sources: [other] })).toBe(false)
})

test('a comparison needs a source of every file, and so does what a model is given', () => {
  const [one, two] = [source('a.pdf', 3, 'a fee of 1 200 euro'), source('b.doc', 9, 'within one year')]
  expect(isRight(asked('compare'), { content: 'Both.', sources: [one, two] })).toBe(true)
  expect(isRight(asked('compare'), { content: 'Both.', sources: [one] })).toBe(false)
  expect(isGiven(asked('compare'), 'a fee of 1 200 euro … one year')).toBe(true)
  expect(isGiven(asked('compare'), 'a fee of 1 200 euro')).toBe(false)
  expect(isGiven(asked('verbatim'), 'a fee of 1 200 euro')).toBe(true)
})

test('what is not in the documents must be refused, and nothing else', () => {
  const sources = [source('a.pdf', 3, 'a fee of 1 200 euro')]
  expect(isRight(asked('negative'), { content: 'The fee is 9.', sources })).toBe(false)
  expect(isRight(asked('negative'), { content: 'I found nothing in your documents that answers this.', sources })).toBe(
    true,
  )
  expect(isRight(asked('verbatim'), { content: 'I found nothing.', sources: [] })).toBe(false)
})

test.each([
  ['It is CHF 9,373.50 million.', 9373.5, true],
  ['Es sind 4.979.114,47 Euro.', 4979114.47, true],
  ['There are 49 of them.', 49, true],
  ['There are 490 of them.', 49, false],
  ['The largest is Celesio AG.', 'Celesio AG', true],
  ['12 %', '12%', true],
])('%s names %s: %s', (content, value, isNamed) => {
  expect(namesValue(content, value)).toBe(isNamed)
})
