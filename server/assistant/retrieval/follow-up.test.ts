import { expect, test } from 'vitest'
import { isFollowUp, withEarlierQuestion } from './follow-up.ts'

test.each([
  'And when exactly?',
  'who holds it?',
  'How much does that cost me?',
  'Why?',
  'What about the cellar?',
  'Und wie lange gilt das?',
  'Und wann?',
  'And where on the machine do I find that number?',
  'Who plays after him on the same stage?',
  'Und wie viele Stück davon hält der Fonds?',
  'Et quand finit-elle ?',
  'А сколько их там?',
  'Og hvor lang er den?',
])('"%s" goes on from the question before', (question) => expect(isFollowUp(question)).toBe(true))

test.each([
  'How long is the notice period?',
  'Notice period',
  'Is it allowed to smoke?',
  'And what does the landlord pay for the repair of the roof?',
  'What does this contract say about repairs of the boiler?',
  'Wie hoch ist die Kaution?',
  'Does a tenant lose his deposit after three months of rent?',
])('"%s" stands for itself', (question) => expect(isFollowUp(question)).toBe(false))

test('is searched together with the last question that is complete in itself', () => {
  const earlier = ['Who is the landlord?', 'What is the break clause?', 'How much does that cost me?']
  expect(withEarlierQuestion('And when exactly?', earlier)).toBe('And when exactly?\nWhat is the break clause?')
  expect(withEarlierQuestion('How high is the deposit?', earlier)).toBe('How high is the deposit?')
  expect(withEarlierQuestion('And when exactly?', [])).toBe('And when exactly?')
})
