import { expect, test } from 'vitest'
import { directionOf } from './text-direction.ts'

test.each([
  ['rtl', '1. على سبيل المثال، يمكن استخدام pandas'],
  ['rtl', '«שלום» world'],
  ['ltr', 'pandas على سبيل المثال'],
  ['ltr', '12 345 [1]'],
])('goes %s by the first letter of "%s"', (direction, text) => expect(directionOf(text)).toBe(direction))
