import { expect, test } from 'vitest'
import { describeLimit, describeScarceLimit } from './limits.ts'

test.each([
  [{ name: 'questions', used: 3, allowed: 20 }, 'Questions today: 3 of 20 used, 17 left.'],
  [{ name: 'tokens', used: 12_000, allowed: 10_000 }, 'Tokens today: 12,000 of 10,000 used, 0 left.'],
  [{ name: 'cost', used: 1_250_000, allowed: 5_000_000 }, 'Cost this month: $1.25 of $5.00 used, $3.75 left.'],
  [{ name: 'pages', used: 1, allowed: 5 }, 'Recognised pages today: 1 of 5 used, 4 left.'],
  [{ name: 'all questions', used: 40, allowed: 100 }, 'Questions of all people today: 40 % used.'],
])('%o', (limit, sentence) => {
  expect(describeLimit(limit)).toBe(sentence)
})

test('the scarcest limit of questions is named below a tenth', () => {
  expect(describeScarceLimit([{ name: 'questions', used: 18, allowed: 20 }])).toBeNull()
  expect(describeScarceLimit([{ name: 'pages', used: 20, allowed: 20 }])).toBeNull()
  expect(
    describeScarceLimit([
      { name: 'questions', used: 19, allowed: 20 },
      { name: 'cost', used: 4_900_000, allowed: 5_000_000 },
      { name: 'all tokens', used: 95, allowed: 100 },
    ]),
  ).toBe('You have $0.10 of $5.00 left this month.')
  expect(describeScarceLimit([{ name: 'all tokens', used: 95, allowed: 100 }])).toBe(
    'This server has 5 % of its tokens left today.',
  )
  expect(describeScarceLimit([{ name: 'questions', used: 20, allowed: 20 }])).toBe(
    'You have 0 of 20 questions left today.',
  )
})
