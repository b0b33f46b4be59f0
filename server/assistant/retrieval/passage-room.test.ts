import { expect, test } from 'vitest'
import { passageRoom } from './passage-room.ts'

test.each([
  [128_000, 6_000, 24_000],
  [32_000, 6_000, 24_000],
  [8_000, 6_000, 11_200],
  [200_000, 6_000, 36_000],
  [128_000, 2_000, 8_000],
  [1_000, 6_000, 1_400],
])('a window of %i tokens and the setting %i give room for %i characters', (window, setting, characters) => {
  expect(passageRoom(window, setting)).toBe(characters)
})
