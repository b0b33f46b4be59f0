import { expect, test } from 'vitest'
import { parseSizeLimit, requireAllowedObject } from './bucket-limits.ts'

test('a limit is a number of bytes or text with a unit', () => {
  expect([5, '5b', '1.5KB', '20mb', '1GB'].map(parseSizeLimit)).toEqual([5, 5, 1500, 20_000_000, 1_000_000_000])
  for (const limit of ['', '20', '20TB', 'mb', '-1mb', -1, 1.5]) expect(() => parseSizeLimit(limit)).toThrow('hint')
})

test.each([
  ['image/png', ['image/png'], true],
  ['IMAGE/PNG', ['image/png'], true],
  ['text/plain;charset=UTF-8', ['text/plain'], true],
  ['image/svg+xml', ['image/*'], true],
  ['text/plain', ['*/*'], true],
  ['text/plain', [], true],
  ['text/plain', null, true],
  ['imagex/png', ['image/*'], false],
  ['image/png2', ['image/png'], false],
  ['image', ['image/*'], false],
  ['text/html;image/png', ['image/png'], false],
])('%s in a bucket for %j: %s', (mimetype, allowed, isAdmitted) => {
  const admit = () => requireAllowedObject({ file_size_limit: null, allowed_mime_types: allowed }, { mimetype }, 10)
  if (isAdmitted) expect(admit()).toBe(10)
  else expect(admit).toThrow(`mime type ${mimetype} is not supported`)
})

test('the smaller limit applies', () => {
  const limits = (bytes: number | null) => ({ file_size_limit: bytes, allowed_mime_types: null })
  expect(requireAllowedObject(limits(5), { size: 5 }, 10)).toBe(5)
  expect(requireAllowedObject(limits(50), { size: 10 }, 10)).toBe(10)
  expect(() => requireAllowedObject(limits(5), { size: 6 }, 10)).toThrow('exceeded')
  expect(() => requireAllowedObject(limits(null), { size: 11 }, 10)).toThrow('exceeded')
})
