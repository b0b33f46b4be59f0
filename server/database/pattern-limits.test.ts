import { expect, test } from 'vitest'
import { isPatternLimit, requireBoundedPattern } from './pattern-limits.ts'

function limitOf(operator: string, value: string, quantifier?: 'any' | 'all'): string | undefined {
  try {
    requireBoundedPattern({ operator, value, quantifier })
    return undefined
  } catch (error) {
    if (!isPatternLimit(error)) throw error
    return error.details.patternLimit
  }
}

test.each([
  '^[\\w.+-]+@[\\w-]+\\.[a-z]{2,63}$',
  '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,6})?)?)?$',
  '(?i)^(draft|final)[ _-]?(v\\d+)?',
  '(?:^|,)invoice(?:,|$)',
  '[]a-z[:digit:][.hyphen.]]{1,32}',
  '\\mword\\M',
  '^.{0,99}$',
  '((a+b)*c)+',
  'a{x}|{1}b',
  '',
])('match.%s is ordinary', (pattern) => {
  expect(limitOf('match', pattern)).toBeUndefined()
  expect(limitOf('imatch', pattern)).toBeUndefined()
})

test.each([
  ['a{0,240}b', 'written out'],
  ['(a{15}){15}', 'written out'],
  ['((a{5}b){7}c{3}){6}', 'written out'],
  ['[[:alpha:]]{201}', 'written out'],
  ['[]]{201}', 'written out'],
  ['[\\]]{201}', 'written out'],
  ['[[=]=]]{201}', 'written out'],
  ['\\x41{201}', 'written out'],
  ['a{100}?{3}', 'written out'],
  ['a{201,}', 'written out'],
  [`(${'a?'.repeat(80)})*`, 'transitions'],
  ['(a?){120}', 'transitions'],
  ['((((a*)b*)*c)*d)*', 'nested more than 3'],
  [`${'('.repeat(21)}a${')'.repeat(21)}`, 'nested more than 20'],
  ['(a*)*\\1', 'back'],
  ['(a)\\\\\\1', 'back'],
  ['(?=.*a).*', 'ahead'],
  ['(?<!a)b', 'ahead'],
  ['(^a|b)+', 'anchor'],
  ['(\\m)*', 'anchor'],
  ['***=a', 'director'],
  ['(?b)a\\{240\\}', 'option'],
  ['(?ix)a', 'option'],
])('match.%s is rejected: %s', (pattern, why) => {
  expect(limitOf('match', pattern)).toContain(why)
  expect(limitOf('imatch', pattern)).toContain(why)
})

test.each([
  '[a-\ud000]'.repeat(2),
  '[a-\ud000a-\ud000]',
  '[\\u0061-\\ud000][^\\u0061-\\ud000]',
  '[\\U00000061-\\U0010ffff]',
  '[a-\\x10ffff]',
  '[[.a.]-\u{10ffff}]',
  '[!-[.tilde.]]',
  '[]-\u{20000}]',
])('ranges whose case is ignored are bounded: %s', (pattern) => {
  const why = 'ranges of more than 100000 characters'
  expect(limitOf('imatch', pattern)).toContain(why)
  expect(limitOf('match', `(?i)${pattern}`)).toContain(why)
  expect(limitOf('imatch', `{"${pattern.replaceAll('\\', '\\\\')}"}`, 'any')).toContain(why)
  expect(limitOf('match', pattern)).toBeUndefined()
})

test.each(['[a-z0-9]'.repeat(50), '[\u4e00-\u9fa5]{2,4}[\u4e00-\u9fa5a-z]', '[a-\ud000-]', '[]-a]', '[a-]'])(
  'ordinary ranges whose case is ignored are taken: %s',
  (pattern) => {
    expect(limitOf('imatch', pattern)).toBeUndefined()
  },
)

test('every pattern of a list is bounded, however the list is written', () => {
  expect(limitOf('match', '{^a,"b{1,3}"}', 'any')).toBeUndefined()
  expect(limitOf('match', '{a,"(b)\\\\1"}', 'any')).toContain('back')
  expect(limitOf('imatch', ' {"b{1,240}"}', 'all')).toContain('written out')
  expect(limitOf('match', '[0:0]={a\\{240\\}}', 'any')).toContain('written out')
  expect(limitOf('match', '{a"{1,240}"}', 'any')).toContain('written out')
  expect(limitOf('like', `{a,${'%b'.repeat(51)}}`, 'any')).toContain('wildcards')
})

test.each([
  ['match', 'a'.repeat(1_001), 'longer'],
  ['imatch', 'a'.repeat(1_001), 'longer'],
  ['like', `%${'a'.repeat(1_000)}`, 'longer'],
  ['ilike', '*b'.repeat(51), 'wildcards'],
  ['like', '%b'.repeat(51), 'wildcards'],
  ['fts', 'a'.repeat(1_001), 'longer'],
  ['plfts', 'a '.repeat(501), 'longer'],
  ['phfts', 'a '.repeat(501), 'longer'],
  ['wfts', 'a '.repeat(501), 'longer'],
])('%s is rejected as too long or with too many wildcards (%#)', (operator, value, why) => {
  expect(limitOf(operator, value)).toContain(why)
})

test('other operators have no patterns', () => {
  expect(limitOf('eq', 'a'.repeat(5_000))).toBeUndefined()
  expect(limitOf('ilike', '%report%')).toBeUndefined()
  expect(limitOf('wfts', 'annual report -draft')).toBeUndefined()
})
