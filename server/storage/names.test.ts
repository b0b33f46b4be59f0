import { expect, test } from 'vitest'
import { requireBucketName, requireKey } from './names.ts'

test.each(['a', 'a/b.c', "x!-.*'() &$@=;:+,?_/y", '...', 'a/..b', '.hidden', 'x'.repeat(1024)])('%s is a key', (key) =>
  expect(requireKey(key)).toBe(key),
)

test.each([
  '',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  'a/../b',
  'a/./b',
  '../a',
  'a\\b',
  'a\0',
  'a\n',
  'a%',
  'ä',
  '~',
  'x'.repeat(1025),
])('%j is no key', (key) => expect(() => requireKey(key)).toThrow('Invalid key'))

test('a bucket name is short and has no slash', () => {
  for (const name of ['a', 'my bucket', 'a.b', 'x'.repeat(100)]) expect(requireBucketName(name)).toBe(name)
  for (const name of ['', 'a/b', ' a', 'a ', '.', '..', 'x'.repeat(101), 'é', 'a\\b'])
    expect(() => requireBucketName(name)).toThrow('Bucket name invalid')
})
