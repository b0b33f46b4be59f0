import { expect, test } from 'vitest'
import { hasParts, splitParts } from './question-parts.ts'

test.each([
  'How long is the notice in the lease compared with the contract of 2019?',
  'Which contract is quicker to leave: the lease or the loan?',
  'What did the letter promise, and since when does the board meet?',
  'What do the report and the letter each say about rent?',
  'Put the sales of 2022 next to the revenue of 2023.',
  'Worin unterscheiden sich Miete und Pacht?',
  'Quelle est la différence entre les deux contrats ?',
  '¿En qué se diferencian los dos contratos?',
  'Чем отличается аренда от найма?',
  '两份合同有什么区别？',
  '2つの契約の違いは何ですか。',
])('%s has parts', (question) => {
  expect(hasParts(question)).toBe(true)
})

test.each([
  'How long is the notice period?',
  'And where do I find that number?',
  'Und wann genau?',
  'Who signed the lease, and the loan?',
  'Is rent due in March or in April?',
  'What is the compass bearing of the harbour?',
])('%s has none', (question) => {
  expect(hasParts(question)).toBe(false)
})

test.each([
  [
    'What did the letter promise about faxing, and what does the printer need?',
    ['What did the letter promise about faxing', 'what does the printer need'],
  ],
  [
    'Who owns it by default: what does Lessig say about a book, and what does the contract say?',
    ['Who owns it by default: what does Lessig say about a book', 'Who owns it by default what does the contract say'],
  ],
  [
    'Which is quicker to leave: the lease (for the tenant) or the gas deal?',
    ['Which is quicker to leave the lease (for the tenant)', 'Which is quicker to leave the gas deal'],
  ],
  [
    'What do the cancer booklet and the sleep article each say about weight?',
    ['What do the cancer booklet say about weight', 'What do the sleep article say about weight'],
  ],
  [
    'How many people caught SARS compared with the Korean cases in March?',
    ['How many people caught SARS', 'the Korean cases in March'],
  ],
  ['Put the sales of Nestlé next to the revenue of Reliance.', ['the sales of Nestlé', 'the revenue of Reliance']],
  [
    'What is the difference between gross pay and net pay?',
    ['What is the difference between gross pay', 'What is the difference between net pay'],
  ],
  [
    'Does an intern in London earn more than a chaplain in the navy?',
    ['Does an intern in London earn more', 'a chaplain in the navy'],
  ],
  [
    'Was sagt der Vertrag über die Miete, und wann endet die Pacht?',
    ['Was sagt der Vertrag über die Miete', 'wann endet die Pacht'],
  ],
])('%s is searched for in parts', (question, parts) => {
  expect(splitParts(question)).toEqual(parts)
})

test.each([
  'Who has to sign the list, and by when?',
  'Which product gained most, and by how much?',
  'How long is the lease?',
])('%s stays one question', (question) => {
  expect(splitParts(question)).toEqual([])
})

test('a long text has no parts', () => {
  const text = `compared with ${'the harbour, and when the tide, or the lock '.repeat(5_000)}?`
  expect([hasParts(text), splitParts(text)]).toEqual([false, []])
})
