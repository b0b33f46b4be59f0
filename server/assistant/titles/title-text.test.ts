import fc from 'fast-check'
import { expect, test } from 'vitest'
import { titleFromModel, titleFromQuestion } from './title-text.ts'

test.for([
  ['How long is the notice period?', 'How long is the notice period'],
  ['  What does\n\nthe lease say … ', 'What does the lease say'],
  ['Is C# faster than C++', 'Is C# faster than C++'],
  [
    'Please summarise the quarterly report, and compare it with the one from last year.',
    'Please summarise the quarterly report, and compare it with…',
  ],
  ['合同的通知期是多久？', '合同的通知期是多久'],
  ['@knowledge report.pdf, "annual accounts 2023.xlsx": What is the profit?', 'What is the profit'],
  ['@knowledge report.pdf', '@knowledge report.pdf'],
  ['Compare @search lamps', 'Compare lamps'],
  ['@knowledge budget.xls, scan.jpeg Old letter.doc: What is due?', 'Old letter.doc: What is due'],
  ['report.pdf says what?', 'report.pdf says what'],
  ['?!', '?!'],
  [' \n ', ''],
] as const)('makes of %j the title %j', ([question, title]) => {
  expect(titleFromQuestion(question)).toBe(title)
})

test('is short, on one line and not cut inside a word or character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (question) => {
      const title = titleFromQuestion(question)
      expect(Array.from(title).length).toBeLessThanOrEqual(61)
      expect(title).not.toContain('\n')
      expect(title.isWellFormed()).toBe(true)
      expect(title === '').toBe(question.trim() === '')
    }),
  )
})

test.for([
  ['"Notice period of the lease."', 'Notice period of the lease'],
  ['**Title: Kündigungsfrist im Mietvertrag**', 'Kündigungsfrist im Mietvertrag'],
  ['# Rent and notice\nmore', 'Rent and notice'],
  ['one two three four five six seven eight', 'one two three four five six seven eight'],
] as const)('takes the title out of %j', ([written, title]) => {
  expect(titleFromModel(written)).toBe(title)
})

test.for(['', '  \n', '...', 'one two three four five six seven eight nine', 'x'.repeat(101)])(
  'takes %j for no title',
  (written) => {
    expect(titleFromModel(written)).toBeUndefined()
  },
)
