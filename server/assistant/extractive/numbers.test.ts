import { expect, test } from 'vitest'
import { asksForNumber, numberFactor } from './numbers.ts'

test.each([
  'How many weeks does it take?',
  'When is the rent due?',
  'Since when has it been kept?',
  'Which leaves may a duck eat, and how much of them?',
  'Wie viele Schulen gibt es?',
  'Ab wann gilt die Hausordnung?',
  '¿Cuánto cuesta?',
  'Quand faut-il payer ?',
  'Hvilket nummer skal vakten ringe?',
  'Ile osób wzięło udział w badaniu?',
  'Сколько стоит билет?',
  '一共有多少人？',
  '何人が参加しましたか。',
  '몇 명이 참여했나요?',
])('is asked for a number or a day by "%s"', (question) => expect(asksForNumber(question)).toBe(true))

test.each([
  'What happens when the tenant leaves?',
  'Who trims the lamp?',
  'Que se passe-t-il quand on part ?',
  'Was sagt der Vertrag?',
  '老婆は何をしていましたか。',
  'Somehow manyfold answers',
])('is asked for something else by "%s"', (question) => expect(asksForNumber(question)).toBe(false))

test('digits score highest for a number question, then number words, then other text', () => {
  const order = ['It is 61 metres deep.', 'three sets of keys', 'One may not smoke, and the rent is due.'].map(
    numberFactor,
  )
  expect(order).toEqual(order.toSorted((one, other) => other - one))
  expect(new Set(order).size).toBe(3)
  expect(numberFactor('drei Monate')).toBe(order[1])
  expect(numberFactor('供水能力二十万吨')).toBe(order[1])
})
