import { expect, test } from 'vitest'
import { hasParts } from './question-parts.ts'

test.each([
  'How long is the notice in the lease compared with the contract of 2019?',
  'Which contract is quicker to leave: the lease or the loan?',
  'What did the letter promise, and since when does the board meet?',
  'What do the report and the letter each say about rent?',
  'Put the sales of 2022 next to those of 2023.',
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
