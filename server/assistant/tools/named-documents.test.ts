import { expect, test } from 'vitest'
import { findMissingName, parseLeadingNames } from './named-documents.ts'

const DOCUMENTS = [
  { id: 'lease', filename: 'Lease.pdf' },
  { id: 'rules', filename: 'House rules.pdf' },
  { id: 'lease 2', filename: 'Lease.pdf 2' },
  { id: 'copy', filename: 'lease.pdf' },
]

test.each([
  ['rules of the house', [], 'rules of the house'],
  ['house rules.pdf may I sing?', ['rules'], 'may I sing?'],
  ['“House rules.pdf”: may I sing?', ['rules'], 'may I sing?'],
  ['"House rules.pdf" may I sing?', ['rules'], 'may I sing?'],
  ['«House rules.pdf» may I sing?', ['rules'], 'may I sing?'],
  ['“House rules.pdf”, “Lease.pdf 2”: "what" is due?', ['rules', 'lease 2'], '"what" is due?'],
  ['House rules.pdf, lease.pdf 2 what is due?', ['rules', 'lease 2'], 'what is due?'],
  ['“House rules.pdf”, “Gone.pdf”: what is due?', ['rules'], '“Gone.pdf”: what is due?'],
  ['House rules.pdf, what is due?', ['rules'], 'what is due?'],
  ['lease.pdf: when?', ['lease', 'copy'], 'when?'],
  ['lease.pdfs when?', [], 'lease.pdfs when?'],
  ['Lease.pdf', ['lease', 'copy'], ''],
])('splits %s', (argument, documentIds, question) => {
  expect(parseLeadingNames(argument, DOCUMENTS)).toEqual({ documentIds, question })
})

test.each([
  ['gone.pdf what is due?', 'gone.pdf'],
  ['“Gone for good.xlsx”: what is due?', 'Gone for good.xlsx'],
  ['Gone.PDF', 'Gone.PDF'],
  ['what is due in gone.pdf?', undefined],
  ['node.js or v1.2 what is due?', undefined],
])('knows of %s which document it names', (question, name) => {
  expect(findMissingName(question)).toBe(name)
})
