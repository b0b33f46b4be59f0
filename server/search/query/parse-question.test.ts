import { expect, test } from 'vitest'
import { groupWordsByLanguage } from './parse-question.ts'

test.each([
  ['How long is the notice period?', ['long notice period']],
  ['Notice period', ['notice period']],
  ['Wie lange ist die notice period for the apartment?', ['lange notice', 'period apartment']],
  ['Wie hoch ist die Kaution? Notice period of the apartment', ['hoch kaution', 'notice period apartment']],
  ['What does the landlord pay, und wie hoch ist die Miete?', ['landlord pay', 'hoch miete']],
  ['¿Cuánto es el alquiler de la casa?', ['alquiler casa']],
  ['How many soldiers die in it?', ['many soldiers die']],
])('tells apart the words of "%s" by their language', (question, parts) => {
  expect(groupWordsByLanguage(question).map((words) => [...words].join(' '))).toEqual(parts)
})
