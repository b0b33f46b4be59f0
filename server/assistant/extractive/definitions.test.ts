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
  expect(definedSubject(question)?.words.join(' ')).toBe(subject)
})

test.each([
  'What is the price of a ticket?',
  'What is the five-year survival rate for stage II breast cancer?',
  'What were the sales in 2023?',
  'How long is the notice period?',
  'Was ist der Unterschied zwischen Miete und Pacht?',
  'What is the hourly rate of the project manager in the agreement?',
  'What is it?',
  'Wat is dat?',
  'What is the deadline?',
  'When is the deadline?',
  'Was ist die Kündigungsfrist?',
  'Wat is de opzegtermijn?',
])('%s asks for something else', (question) => {
  expect(definedSubject(question)).toBeUndefined()
})

const isSame = (one: string, other: string) => one.replace(/s$/, '') === other.replace(/s$/, '')

function isDefinitionFor(question: string, sentence: string): boolean {
  const subject = definedSubject(question)
  return subject !== undefined && isDefinition(sentence, subject, isSame)
}

test.each([
  ['What is a column mask?', 'A column mask is a database object that manifests a rule.'],
  ['What is a column mask?', '3.2 Column masks are database objects.'],
  ['What is a column mask?', 'Column mask (CM), in short, means a rule.'],
  ['What is cording?', 'Cording, also known as axillary web syndrome, is the feeling of a tight cord.'],
  ['What does force majeure mean?', 'Force majeure means an event that a party cannot control.'],
  ['Was ist ein Mietvertrag?', 'Der Mietvertrag ist ein Vertrag über den Gebrauch einer Sache.'],
  ['Qu’est-ce qu’un contrat ?', 'Le contrat est un accord de volontés.'],
  ['¿Qué es el retranqueo?', 'El retranqueo es la distancia a la calle.'],
  ['O que é uma multa?', 'A multa é um valor que se paga.'],
  ['Wat is een borg?', 'Een borg is een bedrag vooraf.'],
  ['Hva er en rammeavtale?', 'En rammeavtale er en avtale om senere kjøp.'],
  ['Что такое неустойка?', 'Неустойка — это сумма, которую должник обязан уплатить.'],
])('%s is answered by: %s', (question, sentence) => {
  expect(isDefinitionFor(question, sentence)).toBe(true)
})

test.each([
  ['What is a column mask?', 'Figure 3-10 Column masks shown in System i Navigator'],
  ['What is a column mask?', 'Now that you have created the two column masks, access control must be activated.'],
  ['What is a column mask?', 'The DB2 column masks are on.'],
  ['What is a mask?', 'The column is a mask.'],
  ['What is a lease?', 'The lease was signed on 3 May 2021.'],
  ['What is a lease?', 'Leases that were ended are stored.'],
  ['What is annual leave?', 'Annual leave is not paid out.'],
  ['Qu’est-ce qu’un contrat ?', 'Le contrat et son avenant restent en vigueur.'],
  ['Was ist ein Mietvertrag?', 'Der Mietvertrag, es sei denn, er endet vorher, gilt drei Jahre.'],
])('%s is not answered by: %s', (question, sentence) => {
  expect(isDefinitionFor(question, sentence)).toBe(false)
})
