import { expect, test } from 'vitest'
import { takeSpan } from './added-span.ts'
import { instantAt, readTimeZone, wallClockAt } from './wall-clock.ts'

test.each([
  ['Asia/Tokyo', '2026-05-02T23:00:00Z', '2026-05-02T15:00:00.000Z', '2026-05-03T15:00:00.000Z'],
  ['America/Los_Angeles', '2026-05-02T03:00:00Z', '2026-05-01T07:00:00.000Z', '2026-05-02T07:00:00.000Z'],
  ['Asia/Kolkata', '2026-05-02T19:00:00Z', '2026-05-02T18:30:00.000Z', '2026-05-03T18:30:00.000Z'],
  ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
  ['America/New_York', '2026-11-01T12:00:00Z', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
  ['UTC', '2026-05-02T00:00:00Z', '2026-05-02T00:00:00.000Z', '2026-05-03T00:00:00.000Z'],
])('today in %s at %s begins at %s and ends at %s', (timeZone, now, from, to) => {
  const { span } = takeSpan('today', wallClockAt(new Date(now), timeZone))
  const bounds = [span?.from, span?.to].map((wall) => wall && instantAt(wall, timeZone).toISOString())
  expect(bounds).toEqual([from, to])
})

test.each([undefined, null, 7, '', 'Mars/Olympus', `Europe/${'x'.repeat(100)}`, '"; drop', ['UTC']])(
  '%s is no time zone, and leaves times as they are',
  (name) => {
    expect(readTimeZone(name)).toBeUndefined()
    const now = new Date()
    expect(wallClockAt(now, undefined)).toBe(now)
    expect(instantAt(now, undefined)).toBe(now)
  },
)

test('a time zone is known by its name in any case', () => {
  expect(readTimeZone('asia/tokyo')).toBe('Asia/Tokyo')
})
