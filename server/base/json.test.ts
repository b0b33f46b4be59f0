import { expect, test } from 'vitest'
import { MAX_NESTING, nestingOf, parseJson } from './json.ts'

test('replaces a lone surrogate and keeps a pair', () => {
  expect(parseJson(String.raw`["a\ud83d\ude00b", "\ud83d", "\uDE00x", "\\ud83d"]`)).toEqual([
    'a😀b',
    '\ufffd',
    '\ufffdx',
    '\\ud83d',
  ])
})

test('rejects NUL, which PostgreSQL cannot store, but not an escaped backslash before it', () => {
  expect(() => parseJson(String.raw`{"a": "\u0000"}`)).toThrow('NUL character')
  expect(() => parseJson(String.raw`{"\u0000": 1}`)).toThrow('NUL character')
  expect(parseJson(String.raw`{"a": "\\u0000"}`)).toEqual({ a: '\\u0000' })
})

test('rejects invalid JSON with a sentence', () => {
  for (const text of ['', '{', 'undefined', '{"a": 1} x']) expect(() => parseJson(text)).toThrow('not valid JSON')
})

test('rejects deep nesting; brackets in strings do not count', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  expect(nestingOf(String.raw`{"a[[[\"{": [["]"]]}`)).toBe(3)
  expect(parseJson(nested(MAX_NESTING))).toBeDefined()
  expect(() => parseJson(nested(MAX_NESTING + 1))).toThrow('nested too deeply')
})
