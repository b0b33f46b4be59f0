import { describe, expect, it } from 'vitest'
import { formatDateLabel, formatTime } from './format-date.ts'

const at = (now: string, timeZone = 'UTC') => ({ now: new Date(now), timeZone })

describe('date labels', () => {
  it.each([
    ['2026-01-01T00:10:00Z', 'Today'],
    ['2025-12-31T23:59:00Z', 'Yesterday'],
    ['2025-12-29T12:00:00Z', '3 days ago'],
    ['2025-12-25T00:00:00Z', '7 days ago'],
    ['2025-12-24T23:59:00Z', 'Dec 24'],
    ['2026-01-01T08:00:00Z', 'Today'],
  ])('%s is %s on New Year’s Day', (value, label) => {
    expect(formatDateLabel(value, at('2026-01-01T01:00:00Z'))).toBe(label)
  })

  it('counts the days of the person’s own calendar', () => {
    const value = '2026-03-10T03:30:00Z'
    expect(formatDateLabel(value, at('2026-03-10T20:00:00Z', 'UTC'))).toBe('Today')
    expect(formatDateLabel(value, at('2026-03-10T20:00:00Z', 'America/New_York'))).toBe('Yesterday')
    expect(formatDateLabel(value, at('2026-03-10T20:00:00Z', 'Pacific/Kiritimati'))).toBe('Yesterday')
  })

  it('counts calendar days over a change of the clock', () => {
    expect(formatDateLabel('2026-03-28T23:30:00Z', at('2026-03-30T00:30:00Z', 'Europe/Berlin'))).toBe('Yesterday')
  })

  it.each([null, undefined, '', 'no date'])('%s is Recently', (value) => {
    expect(formatDateLabel(value, at('2026-01-01T01:00:00Z'))).toBe('Recently')
  })
})

describe('times', () => {
  it('has hour and minute with am or pm', () => {
    expect(formatTime('2026-01-01T15:07:00Z', at('2026-01-01T00:00:00Z'))).toBe('3:07 pm')
    expect(formatTime('2026-01-01T00:05:00Z', at('2026-01-01T00:00:00Z'))).toBe('12:05 am')
    expect(formatTime('2026-01-01T15:07:00Z', at('2026-01-01T00:00:00Z', 'Asia/Kolkata'))).toBe('8:37 pm')
  })

  it('falls back to the current time', () => {
    expect(formatTime('no date', at('2026-01-01T09:30:00Z'))).toBe('9:30 am')
  })
})
