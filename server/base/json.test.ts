import { expect, test } from 'vitest'
import { jsonExcess, MAX_NESTING, measureJson, parseJson } from './json.ts'

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
  expect(measureJson(String.raw`{"a[[[\"{": [["]"]]}`).nesting).toBe(3)
  expect(parseJson(nested(MAX_NESTING))).toBeDefined()
  expect(() => parseJson(nested(MAX_NESTING + 1))).toThrow('nested too deeply')
})

test.each([0, 1, 2, 3, 62, 63, 64, 65, 127, 128, 129])(
  'a string ends after %i characters behind an escape',
  (length) => {
    for (const escapes of [String.raw`\"`, String.raw`\\`, String.raw`\\\"[[`, '']) {
      const string = `"${escapes}${'a'.repeat(length)}"`
      expect(measureJson(`[${string}, ["[[", ${string}]]`)).toMatchObject({ nesting: 2, longestNumber: 0 })
    }
  },
)

test('measures numbers, but not texts that look like them', () => {
  expect(measureJson('[-1.5e-30, 2E+7,0,{"9e999":"1e999"}, true, "\\\\", 12]')).toEqual({
    nesting: 2,
    longestNumber: 8,
    largestExponent: 30,
    exponentSum: 37,
  })
})

test.each([
  ['1e131071', 'holds a number whose exponent is beyond 400'],
  ['[1E-16383]', 'holds a number whose exponent is beyond 400'],
  ['{"a": {"b": -0.1e+401}}', 'holds a number whose exponent is beyond 400'],
  ['1e99999999999999999999', 'holds a number whose exponent is beyond 400'],
  [`[${'9'.repeat(1_001)}]`, 'holds a number of more than 1000 characters'],
  [`0.${'0'.repeat(1_000)}1`, 'holds a number of more than 1000 characters'],
  // Five bytes each, three hundred digits each.
  [`[${'1e300,'.repeat(5_000)}1]`, 'holds too many numbers with large exponents'],
])('rejects numbers that are far longer when they are written out: %.40s', (json, excess) => {
  expect(jsonExcess(json)).toBe(excess)
  expect(() => parseJson(json)).toThrow(`The body ${excess}.`)
})

test('takes what programs send: vectors, limits of doubles, large integers', () => {
  const vectors = Array.from({ length: 100 }, () => Array.from({ length: 1_536 }, (_, at) => (at + 1) * -1.234e-7))
  for (const value of [vectors, [Number.MAX_VALUE, Number.MIN_VALUE, -Number.MAX_SAFE_INTEGER]])
    expect(parseJson(JSON.stringify(value))).toEqual(value)
  expect(jsonExcess('9'.repeat(1_000))).toBeUndefined()
})
