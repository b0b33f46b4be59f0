import { expect, test } from 'vitest'

import { stepZoom } from './zoom.ts'

test('steps up and down through fit-width, and stops at the ends', () => {
  expect(stepZoom(1, 1)).toBe(1.25)
  expect(stepZoom(1, -1)).toBe(0.8)
  expect(stepZoom(0.5, -1)).toBe(0.5)
  expect(stepZoom(4, 1)).toBe(4)
})
