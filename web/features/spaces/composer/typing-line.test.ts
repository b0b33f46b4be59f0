import { expect, test } from 'vitest'
import { describeTyping } from './typing-line.tsx'

test('the line names one or two people, and counts more', () => {
  expect(describeTyping([])).toBe('')
  expect(describeTyping(['Ada'])).toBe('Ada is typing…')
  expect(describeTyping(['Ada', 'Bob'])).toBe('Ada and Bob are typing…')
  expect(describeTyping(['Ada', 'Bob', 'Cy'])).toBe('Ada and 2 others are typing…')
})
