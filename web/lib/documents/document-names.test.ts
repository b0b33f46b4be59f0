import { expect, test } from 'vitest'
import { addDocumentNames, removeDocumentName, matchingNames, nameTokenAt, quoteName } from './document-names.ts'

const NAMES = ['Report.pdf', 'report 2024.pdf', 'Lease.pdf', 'report 2024.pdf']
const offered = (text: string) => matchingNames(nameTokenAt(text, text.length), NAMES)

test.each([
  ['@knowledge re', ['Report.pdf', 'report 2024.pdf']],
  ['Look: @knowledge REPORT 2', ['report 2024.pdf']],
  ['@knowledge “report 2', ['report 2024.pdf']],
  ['@knowledge “report 2024.pdf”, le', ['Lease.pdf']],
  ['@knowledge Report.pdf, “le', ['Lease.pdf']],
  ['@knowledge ', []],
  ['@knowledge', []],
  ['@knowledge “', []],
  ['@knowledge Report.pdf', []],
  ['@knowledge Report.pdf what', []],
  ['@search re', []],
  ['re', []],
  ['me@knowledge re', []],
])('after %j offers %j', (text, names) => {
  expect(offered(text)).toEqual(names)
})

test('a name of several words is written in quotation marks', () => {
  expect(quoteName('Report.pdf')).toBe('Report.pdf')
  expect(quoteName('report 2024.pdf')).toBe('“report 2024.pdf”')
})

test('adds names before the question and behind existing names', () => {
  const first = addDocumentNames(['plan 1.pdf', 'b.png'], 'What is this?')
  expect(first).toBe('@knowledge “plan 1.pdf”, “b.png”: What is this?')
  expect(addDocumentNames(['c.txt'], first)).toBe('@knowledge “plan 1.pdf”, “b.png”, “c.txt”: What is this?')
  expect(addDocumentNames(['c.txt'], '@web https://example.test')).toBe('@knowledge “c.txt”: @web https://example.test')
})

test('removes a name, and the command with the last name', () => {
  const both = addDocumentNames(['plan, 1.pdf', 'b.png'], 'What is this?')
  const one = removeDocumentName('plan, 1.pdf', both)
  expect(one).toBe('@knowledge “b.png”: What is this?')
  expect(removeDocumentName('b.png', one)).toBe('What is this?')
  expect(removeDocumentName('c.txt', both)).toBe(both)
  expect(removeDocumentName('c.txt', 'Look at “c.txt”: well?')).toBe('Look at “c.txt”: well?')
})
