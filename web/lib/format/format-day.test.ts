import { expect, test } from 'vitest'
import { formatDay, formatFullDay } from './format-day.ts'

const thisYear = new Date().getFullYear()

test('names the year of a day in another one', () => {
  expect(formatDay(`${thisYear}-03-04T12:00:00`)).toBe('March 4')
  expect(formatDay(`${thisYear}-03-04T12:00:00`, 'short')).toBe('Mar 4')
  expect(formatDay('2019-03-04T12:00:00', 'short')).toBe('Mar 4, 2019')
})

test('names the year of this one where it is asked to', () => {
  expect(formatFullDay(`${thisYear}-03-04T12:00:00`)).toBe(`March 4, ${thisYear}`)
  expect(formatFullDay('2019-03-04T12:00:00', 'short')).toBe('Mar 4, 2019')
})
