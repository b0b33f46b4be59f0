import { expect, test } from 'vitest'
import { asksForSeveral, findLists, listRangeOf } from './lists.ts'

const quoteOf = (text: string, quoted: string, asksForAll = false) => {
  const start = text.indexOf(quoted)
  const range = listRangeOf(text, findLists(text), { start, end: start + quoted.length }, asksForAll)
  return range && text.slice(range.start, range.end)
}

const BULLETS = 'Read this first. To open the gate you need:\n• a key\n• a lamp that burns\nfor an hour\n• oil'
const NUMBERED =
  'The gate has three rules:\n\n1. Knock first.\n\n2. Wait for the warden.\n\n3. Close it.\n\nThe wall is old.'
const NESTED = 'Choose a lamp:\n• Oil:\n– whale\n– seal\n• Wax\nNote: Lamps are hot.'
const UNMARKED = 'Wardens are to:\n\nlight the lamps;\n\ntrim the wicks; and\n\nclose the gate.\n\nThe wall is old.'

test('a list belongs to the sentence that introduces it', () => {
  expect(quoteOf(BULLETS, 'To open the gate you need:')).toBe(BULLETS.slice(BULLETS.indexOf('To open')))
  expect(quoteOf(NUMBERED, 'The gate has three rules:')).toMatch(/^The gate[^]*3\. Close it\.$/)
  expect(quoteOf(NESTED, 'Choose a lamp:')).toMatch(/^Choose[^]*– seal\n• Wax$/)
  expect(quoteOf(UNMARKED, 'Wardens are to:')).toMatch(/^Wardens[^]*close the gate\.$/)
})

test('one of its items stands for the whole list only where several things are asked for', () => {
  expect(quoteOf(NUMBERED, '2. Wait for the warden.')).toBeUndefined()
  expect(quoteOf(NUMBERED, '2. Wait for the warden.', true)).toMatch(/^The gate has three rules:[^]*3\. Close it\.$/)
})

test('numbers that do not follow each other, and single lines, are no list', () => {
  expect(findLists('1. One thing\n7. Another thing')).toEqual([])
  expect(findLists('Colours:\nred\n\nThe wall is old.')).toEqual([])
})

test('a long list ends with an item', () => {
  const items = Array.from({ length: 60 }, (_, index) => `${index + 1}. ${'Stone after stone is laid. '.repeat(3)}`)
  const quote = quoteOf(`The stones:\n${items.join('\n')}`, 'The stones:')
  expect(quote?.length).toBeLessThan(1_600)
  expect(quote).toMatch(/is laid\.$/)
})

test.each([
  'What are the conditions of the loan?',
  'Which documents do I need?',
  'List the members of the board.',
  'Welche Unterlagen brauche ich?',
  'Quels sont les critères ?',
  '¿Cuáles son las tres fases?',
  'Quali documenti servono?',
  'Quais são as regras?',
  'Welke kleuren zijn er?',
  'Hvilke regler gjelder?',
  'Какие документы нужны?',
  '需要哪些文件？',
  'ما هي الشروط؟',
])('"%s" asks for several things', (question) => expect(asksForSeveral(question)).toBe(true))

test.each([
  'What is the price of the lamp?',
  'Which class is the best?',
  'Wann beginnt der Kurs?',
  'Who was the first warden?',
])('"%s" asks for one', (question) => expect(asksForSeveral(question)).toBe(false))
