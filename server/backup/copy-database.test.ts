import { expect, test } from 'vitest'
import { RowDigest } from './copy-database.ts'

function digestOf(...chunks: string[]): RowDigest {
  const digest = new RowDigest()
  for (const chunk of chunks) digest.add(Buffer.from(chunk))
  return digest
}

test('the order of rows and the borders of chunks do not count', () => {
  const whole = digestOf('1\tone\n2\ttwo\n\n3\té✓\n')
  expect(whole.rows).toBe(4)
  expect(whole.equals(digestOf('3\té✓\n2\ttwo\n', '1\tone\n\n'))).toBe(true)
  expect(whole.equals(digestOf(...Array.from('1\tone\n2\ttwo\n\n3\té✓\n')))).toBe(true)
})

test.each([
  ['another value', '1\tone\n2\ttwp\n'],
  ['a missing row', '1\tone\n'],
  ['a row twice', '1\tone\n1\tone\n'],
  ['values in other rows', '1\ttwo\n2\tone\n'],
])('%s counts', (_name, text) => {
  expect(digestOf('1\tone\n2\ttwo\n').equals(digestOf(text))).toBe(false)
})
