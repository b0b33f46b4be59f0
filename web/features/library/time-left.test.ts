import { expect, test } from 'vitest'
import { createTimeLeft, describeTimeLeft } from './time-left.ts'

test('goes by the pace of the last minute, and begins again with other files', () => {
  let now = 0
  const { observe } = createTimeLeft(() => now)
  const observeAt = (seconds: number, done: number, total = 1000) => {
    now = seconds * 1000
    return observe({ done, total })
  }
  expect(observeAt(0, 0)).toBeNull()
  expect(observeAt(4, 40)).toBeNull()
  expect(observeAt(10, 100)).toBe(90)
  expect(observeAt(65, 100)).toBeNull()
  expect(observeAt(75, 120)).toBeCloseTo(440)
  expect(observeAt(76, 3, 20)).toBeNull()
  expect(observeAt(86, 13, 20)).toBe(7)
})

test('says it roughly', () => {
  expect([5, 65, 600, 3600, 9000].map(describeTimeLeft)).toEqual([
    'less than a minute left',
    'about 1 min left',
    'about 10 min left',
    'about 1 h left',
    'about 3 h left',
  ])
})
