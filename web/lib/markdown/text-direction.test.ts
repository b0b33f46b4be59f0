import { expect, test } from 'vitest'
import { directionOf } from './text-direction.ts'

test.each([
  ['rtl', ['1. على سبيل المثال، يمكن استخدام pandas']],
  ['rtl', ['«שלום» world']],
  ['ltr', ['pandas على سبيل المثال']],
  ['rtl', ['12 345 [1]', 'على pandas', 'pandas']],
  ['ltr', ['12 345 [1]']],
  ['ltr', []],
] as const)('goes %s by the first letter of %j', (direction, texts) => expect(directionOf(texts)).toBe(direction))
