import fc from 'fast-check'
import { expect, test } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import { AppError } from '#server/base/errors.ts'
import { type Filter, filterToSql } from './filter.ts'
import { matchesRow } from './match-row.ts'

const COLUMNS = {
  bigint: ['1', '9007199254740993', '-5', '+7', ' 3 '],
  numeric: ['1.5', '1.50', '-0.001', '1e3', '123456789012345678901234567890.5'],
  'double precision': ['0.1', '1e308', 'NaN', '-Infinity', '1'],
  boolean: ['true', 'f', 'on', '0'],
  uuid: ['aaaaaaaa-0000-4000-8000-000000000000', 'AAAAAAAA00004000800000000000000F', '{bbbbbbbb-0000-4000-8000-000000000000}'],
  date: ['2026-02-28', '0099-01-01', 'infinity'],
  'timestamp without time zone': ['2026-02-28 12:00', '2026-02-28T12:00:00.000001', '2026-03-01'],
  'timestamp with time zone': ['2026-02-28 12:00Z', '2026-02-28T12:00:00.000001+05:30', '2026-03-01 00:00-08', 'infinity'],
  text: ['', 'a', 'A', 'ä', '🚂', 'ｆ', 'a%b', 'a_b', 'line\nbreak', 'x.y'],
} as const // prettier-ignore

const PATTERNS = ['a%', '%a%', '_', '%', 'a\\%b', 'A', '%\n%', '*']
const REGEXES = [
  '^a',
  'a$',
  '[a-c]+',
  '^.$',
  '(a|A)b?',
  '\\w',
  'x\\.y',
  '^$',
  '[^a]',
  'a{1,2}',
  '^[^\\s]*$',
  '.*',
  'a|',
]

const typeName = fc.constantFrom<keyof typeof COLUMNS>(...(Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]))

const asked = typeName.chain((type) => {
  const value = fc.constantFrom<string>(...COLUMNS[type])
  const condition = fc.oneof(
    fc.record({ operator: fc.constantFrom('eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'isdistinct'), value }),
    fc.record({ operator: fc.constant('in' as const), value: fc.array(value, { maxLength: 3 }) }),
    fc.record({ operator: fc.constant('is' as const), value: fc.constantFrom('null', 'not_null') }),
    ...(type === 'text'
      ? [
          fc.record({ operator: fc.constantFrom('like', 'ilike'), value: fc.constantFrom(...PATTERNS) }),
          fc.record({ operator: fc.constantFrom('match', 'imatch'), value: fc.constantFrom(...REGEXES) }),
        ]
      : []),
    ...(type === 'boolean'
      ? [fc.record({ operator: fc.constant('is' as const), value: fc.constantFrom('true', 'false', 'unknown') })]
      : []),
  )
  return fc.record({ type: fc.constant(type), stored: fc.option(value), condition, negated: fc.boolean() })
})

test('a row matches in memory exactly where it matches in PostgreSQL', async () => {
  const { database } = await temporaryDatabase()
  await fc.assert(
    fc.asyncProperty(asked, async ({ type, stored, condition, negated }) => {
      const filter = { column: 'x', path: [], negated, ...condition } as Filter
      const values: (string | null)[] = [stored]
      const { rows } = await database.asService(
        (scope) => {
          const sql = filterToSql(filter, type, (value) => `$${values.push(value)}`)
          return scope.query<{ row: { x: unknown }; matches: boolean | null }>(
            `select json_build_object('x', ${type === 'numeric' || type === 'bigint' ? 'x::text' : 'x'}) as row, (${sql}) as matches from (select $1::${type} as x) r`,
            values,
          )
        },
        { settings: { timezone: 'UTC' } },
      )
      const [found] = rows
      expect(matchesRow(filter, new Map([['x', type]]), found?.row ?? {}), JSON.stringify(found)).toBe(
        found?.matches ?? false,
      )
    }),
    { numRuns: 400 },
  )
})

test('every accepted regular expression means the same in PostgreSQL', async () => {
  const { database } = await temporaryDatabase()
  const piece = fc.constantFrom(
    'a',
    'b',
    '.',
    '^',
    '$',
    '(a|b)',
    '[ab]',
    '[^a]',
    '[]a]',
    '\\d',
    '\\w',
    '\\.',
    '*',
    '+',
    '?',
    '{2}',
    '{0,1}',
    '|',
    'ä',
    ' ',
  )
  const pattern = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''))
  const text = fc
    .array(fc.constantFrom('a', 'b', '1', '.', 'ä', ' ', ']', '\n'), { maxLength: 5 })
    .map((letters) => letters.join(''))
  await fc.assert(
    fc.asyncProperty(pattern, text, fc.boolean(), async (value, given, ignoresCase) => {
      const filter: Filter = {
        column: 'x',
        path: [],
        negated: false,
        operator: ignoresCase ? 'imatch' : 'match',
        value,
      }
      let matches: boolean
      try {
        matches = matchesRow(filter, new Map([['x', 'text']]), { x: given })
      } catch (error) {
        if (error instanceof AppError) return
        throw error
      }
      const { rows } = await database.asService((scope) =>
        scope.query<{ matches: boolean }>(`select $1 ${ignoresCase ? '~*' : '~'} $2 as matches`, [given, value]),
      )
      expect([value, given, matches]).toEqual([value, given, rows[0]?.matches])
    }),
    { numRuns: 400 },
  )
})
