/** Texts, JSON values and bytes that programs tend to handle wrongly. */
import type { Random } from './random.ts'

const LENGTHS = [1, 255, 256, 1024, 8_192, 65_536, 300_000]
const LONE_SURROGATE = '\ud800'

const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u202e\u200b\ufeff',
  LONE_SURROGATE,
  'e\u0301\u0301\u0301',
  '👩‍👩‍👧‍👦',
  '../../../../etc/passwd',
  '..%2f..%2f',
  '%00',
  '%zz',
  '%c0%ae',
  "'; select pg_sleep(9); --",
  '"',
  '\\',
  '$1',
  '${1}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '\r\nset-cookie: a=b',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'true',
  'NaN',
  'Infinity',
  '-0',
  '1e309',
  '1e131071',
  '1e-16383',
  '99999999999999999999',
  '-9223372036854775809',
  '0x10',
  '1970-01-01',
  '294277-01-01T00:00:00Z',
  'infinity',
  '00000000-0000-0000-0000-000000000000',
  '(a+)+$',
  'a{0,9999}b',
  '(?=x)*[[:',
  '*'.repeat(60),
  '%'.repeat(300),
]

/** Valid in headers and request targets when encoded; may be very long. */
export function hostileText(random: Random): string {
  if (random.chance(0.8)) return random.pick(TEXTS)
  const unit = random.pick(['a', '(', '[', '{"a":', '\u00e9', '👍', '%41', '/', ',', '.a', '&a=b', '\u0000'])
  return unit.repeat(Math.ceil(random.pick(LENGTHS) / unit.length))
}

/** JSON text nested this deeply, which `JSON.stringify` could not write. */
const nestedJson = (depth: number, [open, close]: readonly [string, string]): string =>
  `${open.repeat(depth)}1${close.repeat(depth)}`

/** JSON text, valid or nearly so. */
export function hostileJson(random: Random): string {
  return random.pick([
    () => '',
    () => 'null',
    () => '[]',
    () => '{}',
    () => '"text"',
    () => '-',
    () => '{"a":1,"a":2}',
    () => '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    () => '[' + '1,'.repeat(random.pick([10, 1_000, 100_000])) + '1]',
    () => `{${Array.from({ length: random.pick([10, 1_000, 20_000]) }, (_, at) => `"k${at}":${at}`).join()}}`,
    () => nestedJson(random.pick([60, 600, 6_000, 200_000]), ['[', ']']),
    () => nestedJson(random.pick([60, 600, 6_000, 100_000]), ['{"a":', '}']),
    () => '9'.repeat(random.pick([30, 400, 100_000])),
    () => '1e99999',
    () => '1e131071',
    () => '1e-16383',
    () => `{"a":[${'1e131071,'.repeat(random.pick([1, 100, 7_000]))}1]}`,
    () => `[${'1e308,'.repeat(random.pick([1, 100, 100_000]))}1]`,
    () => '"\\ud800"',
    () => '"\\u0000"',
    () => '[1,]',
    () => '{"a":1}{"b":2}',
    () => '\ufeff{}',
    () => "{'a':1}",
  ])()
}

/** Something of another type than the one that stands there. */
export function hostileValue(random: Random): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => true,
    () => 0,
    () => -1,
    () => 0.1,
    () => Number.MAX_SAFE_INTEGER + 2,
    () => 1e308,
    () => [],
    () => ({}),
    () => [null],
    () => ({ a: { b: { c: [] } } }),
    () => Array.from({ length: random.pick([2, 300, 5_000]) }, (_, at) => at),
    () => hostileText(random),
    () => hostileText(random),
    () => random.uuid(),
  ])()
}

/** Bytes that are not UTF-8: stray, overlong, cut, surrogates, beyond Unicode; or of another encoding. */
const BROKEN_UTF8 = ['80', 'c0ae', 'e282', 'eda080', 'f4908080', 'fffe', 'efbbbf'].map((hex) => Buffer.from(hex, 'hex'))

export function brokenText(random: Random): Buffer {
  return random.chance(0.8) ? random.pick(BROKEN_UTF8) : random.bytes(1 + random.int(40))
}

/** Bytes changed, cut, repeated or mixed with broken text at a random position. */
export function damageBytes(random: Random, bytes: Buffer): Buffer {
  const at = random.int(bytes.length + 1)
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  return random.pick([
    () => before,
    () => after,
    () => Buffer.concat([before, brokenText(random), after]),
    () => Buffer.concat([before, Buffer.from([0]), after]),
    () => Buffer.concat([before, before, after]),
    () => Buffer.concat([before, random.bytes(1), after.subarray(1)]),
  ])()
}
