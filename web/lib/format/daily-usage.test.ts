import { expect, test } from 'vitest'
import { fillDays, formatCost, USAGE_MEASURES } from './daily-usage.ts'

const row = (day: string, bytes: number) =>
  ({ day, questions: 2, tokens: 0, own_tokens: 0, cost: 0, documents: 0, pages: 0, bytes }) as const

test('every day is there, and what is stored stays until it is noted again', () => {
  const now = new Date('2026-03-02T23:30:00Z')
  const days = fillDays([row('2026-02-27', 5), row('2026-03-02', 0), row('2026-01-01', 9)], 5, now)
  expect(days.map(({ day, questions, bytes }) => [day, questions, bytes])).toEqual([
    ['2026-02-26', 0, 0],
    ['2026-02-27', 2, 5],
    ['2026-02-28', 0, 5],
    ['2026-03-01', 0, 5],
    ['2026-03-02', 2, 5],
  ])
})

test('costs have two decimals', () => {
  expect([0, 4_999, 1_234_567].map(formatCost)).toEqual(['$0.00', '$0.00', '$1.23'])
})

test('the measure of the cost is shown in dollars', () => {
  const measure = USAGE_MEASURES.find(({ label }) => label === 'Cost')
  expect(measure?.format(measure.read({ ...row('2026-03-02', 0), cost: 1_234_567 }))).toBe('$1.23')
})
