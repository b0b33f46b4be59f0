import { expect, test } from 'vitest'
import { DEEPEST_NESTING, nestingOf, parseJson } from './json.ts'

test('half a surrogate pair is replaced, a whole one kept', () => {
  expect(parseJson(String.raw`["a\ud83d\ude00b", "\ud83d", "\uDE00x", "\\ud83d"]`)).toEqual([
    'a😀b',
    '\ufffd',
    '\ufffdx',
    '\\ud83d',
  ])
})

test('what PostgreSQL cannot store is refused, an escaped back-slash is not mistaken for it', () => {
  expect(() => parseJson(String.raw`{"a": "\u0000"}`)).toThrow('NUL character')
  expect(() => parseJson(String.raw`{"\u0000": 1}`)).toThrow('NUL character')
  expect(parseJson(String.raw`{"a": "\\u0000"}`)).toEqual({ a: '\\u0000' })
})

test('what is no JSON is refused in words', () => {
  for (const text of ['', '{', 'undefined', '{"a": 1} x']) expect(() => parseJson(text)).toThrow('not valid JSON')
})

test('deep nesting is refused, brackets in strings do not count', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  expect(nestingOf(String.raw`{"a[[[\"{": [["]"]]}`)).toBe(3)
  expect(parseJson(nested(DEEPEST_NESTING))).toBeDefined()
  expect(() => parseJson(nested(DEEPEST_NESTING + 1))).toThrow('nested too deeply')
})
