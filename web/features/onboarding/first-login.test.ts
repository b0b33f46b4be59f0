import { expect, it } from 'vitest'
import { isFirstLogin } from './first-login.ts'

const created_at = '2026-03-04T10:00:00Z'

it.each([
  ['2026-03-04T10:00:00Z', true],
  ['2026-03-04T10:02:00Z', true],
  ['2026-03-04T10:02:00.001Z', false],
  ['2026-03-05T10:00:00Z', false],
  ['', true],
  [undefined, true],
])('a last sign-in at %s after the creation at 10:00 is a first one: %s', (last_sign_in_at, expected) => {
  expect(isFirstLogin({ created_at, last_sign_in_at })).toBe(expected)
})
