import { expect, test } from 'vitest'
import { definedSubject, isDefinition } from './definitions.ts'

test.each([
  ['What is a column mask in DB2 for i?', 'column mask'],
  ['What is cording, also known as axillary web syndrome?', 'cording'],
  ['What are perfect hash functions?', 'perfect hash functions'],
  ['What’s ecclesiastical endorsement?', 'ecclesiastical endorsement'],
  ['What does force majeure mean in this contract?', 'force majeure'],
  ['Was ist eine Betriebsänderung?', 'betriebsänderung'],
  ['Was bedeutet Karenzzeit im Vertrag?', 'karenzzeit'],
  ['Qu’est-ce qu’un entrepôt de données ?', 'entrepôt de données'],
  ['¿Qué es el retranqueo según la ordenanza?', 'retranqueo'],
  ['Che cos’è la clausola risolutiva?', 'clausola risolutiva'],
  ['O que é uma cláusula penal?', 'cláusula penal'],
  ['Wat is een huurachterstand?', 'huurachterstand'],
  ['Hva er en rammeavtale?', 'rammeavtale'],
  ['Что такое неустойка?', 'неустойка'],
  ['ما هو القسط الثابت؟', 'القسط الثابت'],
])('%s asks for a definition', (question, subject) => {
  expect(definedSubject(question)?.join(' ')).toBe(subject)
})

test.each([
  'What is the price of a ticket?',
  'What is the five-year survival rate for stage II breast cancer?',
  'What were the sales in 2023?',
  'How long is the notice period?',
  'Was ist der Unterschied zwischen Miete und Pacht?',
  'What is the hourly rate of the project manager in the agreement?',
  'What is the deadline?',
  'When is the deadline?',
  'Was ist die Kündigungsfrist?',
  'Wat is de opzegtermijn?',
])('%s asks for something else', (question) => {
  expect(definedSubject(question)).toBeUndefined()
})

const isSame = (one: string, other: string) => one.replace(/s$/, '') === other.replace(/s$/, '')

test.each([
  'A column mask is a database object that manifests a rule.',
  '3.2 Column masks are database objects.',
  'Column mask (CM), in short, means a rule.',
])('"%s" is a definition', (sentence) => {
  expect(isDefinition(sentence, ['column', 'mask'], isSame)).toBe(true)
})

test.each([
  'Figure 3-10 Column masks shown in System i Navigator',
  'Now that you have created the row permission and the two column masks, access control must be activated.',
  'The mask is a column.',
])('"%s" is none', (sentence) => {
  expect(isDefinition(sentence, ['column', 'mask'], isSame)).toBe(false)
})
