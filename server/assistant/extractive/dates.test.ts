import { expect, test } from 'vitest'
import { asksForDates, containsDate } from './dates.ts'

test.each([
  'on 14 March 2025',
  'from the 1st of May',
  'Am 3. Mai',
  'March 14, 2025',
  'el 5 de enero',
  'in April 2026',
  '2015-01-10',
  '1.2.2024',
  '12/31/24',
  '2024年11月',
  'с 3 мая',
])('%j names a day', (text) => expect(containsDate(text)).toBe(true))

test.each(['version 1.2.3.4', '18 months', 'Room 12', 'the 3 main points', '10.5.1 Scope of it', 'section 4.1'])(
  '%j names none',
  (text) => expect(containsDate(text)).toBe(false),
)

test('recognises questions for dates', () => {
  expect(asksForDates('dates in the lease')).toBe(true)
  expect(asksForDates('updates of the software')).toBe(false)
})
