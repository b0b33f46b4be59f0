import { expect, test } from 'vitest'
import { AppError } from '#server/base/errors.ts'
import { filterToSql, parseFilter, parseFilters } from './filter.ts'
import { matchesRow } from './match-row.ts'
import { WorkExceeded } from './work.ts'

const TYPES = new Map([
  ['id', 'bigint'],
  ['price', 'numeric'],
  ['ratio', 'double precision'],
  ['flag', 'boolean'],
  ['at', 'timestamp with time zone'],
  ['owner', 'uuid'],
  ['title', 'text'],
  ['data', 'jsonb'],
])

test.each([
  ['id=eq.5', { column: 'id', operator: 'eq', value: '5', negated: false }],
  ['id=not.in.(1,"a,b",c)', { column: 'id', operator: 'in', value: ['1', 'a,b', 'c'], negated: true }],
  ['title=eq."with, ""'.replace('""', '\\""'), { operator: 'eq', value: 'with, "' }],
  ['title=eq.a=b.c', { operator: 'eq', value: 'a=b.c' }],
  ['title=like(any).{a,b}', { operator: 'like', quantifier: 'any', value: '{a,b}' }],
  ['title=is.NULL', { operator: 'is', value: 'null' }],
  ['title=fts(english).cat', { operator: 'fts', language: 'english', value: 'cat' }],
  ['data->list->0->>key-a=eq.1', { column: 'data', path: [{ arrow: '->', key: 'list', isIndex: false }, { arrow: '->', key: '0', isIndex: true }, { arrow: '->>', key: 'key-a', isIndex: false }] }],
  ['"odd name"=eq.1', { column: 'odd name' }],
])('parses %s', (text, expected) => {
  expect(parseFilter(text)).toMatchObject(expected)
}) // prettier-ignore

test('parses several filters; a comma may belong to a value', () => {
  const filters = parseFilters('id=in.(1,2),title=eq.Hello, world,flag=is.true,owner=eq."x,y=z"')
  expect(filters.map(({ column, value }) => [column, value])).toEqual([
    ['id', ['1', '2']],
    ['title', 'Hello, world'],
    ['flag', 'true'],
    ['owner', 'x,y=z'],
  ])
})

test.each([
  '',
  'id',
  'id=5',
  'id=equals.5',
  'id=in.1',
  'id=in.(1',
  'id=is.nothing',
  'id=cs(any).{1}',
  '=eq.1',
  'id.x=eq.1',
  'data->=eq.1',
])('rejects %j and says what was expected', (text) => {
  expect(() => parseFilter(text)).toThrow(AppError)
  expect(() => parseFilter(text)).toThrow(/^"failed to parse filter/)
})

test('binds every value and quotes every name', () => {
  const values: string[] = []
  const sql = filterToSql(
    parseFilter(`"a""; drop"->>x'y=not.eq.v'--`.replace('""', '\\"')),
    'jsonb',
    (value) => `$${values.push(value)}`,
    't',
  )
  expect(sql).toBe(`not (t."a""; drop"->>$1::text = $2)`)
  expect(values).toEqual([`x'y`, `v'--`])
})

const ROW = {
  id: '9007199254740993',
  price: 1.5,
  ratio: 0.1,
  flag: true,
  at: '2026-01-01T12:00:00.123456+02:00',
  owner: 'AAAAAAAA-0000-4000-8000-000000000000',
  title: 'Straße 🚂',
  data: { a: 1 },
}

test.each([
  ['id=eq.9007199254740993', true],
  ['id=eq.9007199254740992', false],
  ['id=gt.9007199254740992', true],
  ['price=eq.1.50', true],
  ['price=lt.15e-1', false],
  ['price=in.(1,1.500)', true],
  ['ratio=lte.0.1', true],
  ['ratio=lt.NaN', true],
  ['flag=eq.t', true],
  ['flag=is.true', true],
  ['flag=is.false', false],
  ['at=eq.2026-01-01T10:00:00.123456Z', true],
  ['at=gt.2026-01-01T10:00:00.123455Z', true],
  ['at=lt.infinity', true],
  ['owner=eq.aaaaaaaa000040008000000000000000', true],
  ['title=like.Stra_e*', true],
  ['title=like.stra%', false],
  ['title=ilike.stra%', true],
  ['title=like.%\\%', false],
  ['title=match.^Stra.e', true],
  ['title=imatch.(weg|STRASSE|stra)', true],
  ['title=match.\\d{2,}', false],
  ['title=not.match.\\d', true],
  ['title=gt.Straße ｆ', true],
  ['title=neq.x', true],
  ['title=is.not_null', true],
])('%s matches: %s', (text, expected) => {
  expect(matchesRow(parseFilter(text), TYPES, ROW)).toBe(expected)
})

test.each([
  ['title=eq.x', false],
  ['title=not.eq.x', false],
  ['title=neq.x', false],
  ['title=not.in.(x)', false],
  ['title=is.null', true],
  ['title=isdistinct.x', true],
  ['title=not.isdistinct.x', false],
])('on a null value, %s matches: %s', (text, expected) => {
  expect(matchesRow(parseFilter(text), TYPES, { title: null })).toBe(expected)
  expect(matchesRow(parseFilter(text), TYPES, {})).toBe(expected)
})

test.each([
  'id=eq.x',
  'id=in.(1,x)',
  'price=gt.',
  'flag=eq.maybe',
  'at=lt.2026-02-30',
  'at=lt.soon',
  'owner=eq.1',
  'nope=eq.1',
  'data->a=eq.1',
  'title=cs.{x}',
  'title=fts.x',
  'title=eq(any).{x}',
  'id=is.true',
  'title=match.(',
  'title=match.(?=x)',
  'title=match.\\1',
  'title=like.x\\',
  'price=eq.1e999999',
])('rejects %s on any row, even where the value is null', (text) => {
  const filter = parseFilter(text)
  expect(() => matchesRow(filter, TYPES, {})).toThrow(AppError)
  expect(() => matchesRow(filter, TYPES, ROW)).toThrow(AppError)
})

/** Steps of matching a filter with a row; the wanted values are parsed before. */
function stepsOf(text: string, row: Readonly<Record<string, unknown>>): number {
  let steps = 0
  const filter = parseFilter(text)
  matchesRow(filter, TYPES, row)
  matchesRow(filter, TYPES, row, { spend: (more) => (steps += more) })
  return steps
}

test.each([
  ['title=match.a{0,240}b', 'a'],
  ['title=imatch.a{0,240}b', 'a'],
  ['title=match.a[ab]{200}[cd]', 'a'],
  ['title=match.^(a+)+$', 'a'],
  ['title=not.match.(?:[ab]{0,8}){0,12}[cd]', 'ab'],
  ['title=like.%a%a%a%a%b', 'a'],
  [`title=like.%${'_'.repeat(100)}b`, 'a'],
  ['title=ilike.%b', 'é'],
  ['title=in.(x,y)', 'a'],
  ['price=eq.5', '9'],
  ['price=in.(5,6,7)', '9'],
])('the counted work of %s grows with the text, not faster', (text, unit) => {
  const [once, twice] = [10_000, 20_000].map((length) => {
    const value = unit.repeat(length / unit.length)
    return stepsOf(text, { title: value, price: value })
  })
  expect(twice).toBeLessThanOrEqual(2.1 * (once ?? 0))
})

test('work that is used up ends the match before its answer', () => {
  const row = { title: 'a'.repeat(20_000) }
  let left = 100_000
  const work = {
    spend(steps: number) {
      if (steps > left) throw new WorkExceeded()
      left -= steps
    },
  }
  expect(() => matchesRow(parseFilter('title=match.a{0,240}b'), TYPES, row, work)).toThrow(WorkExceeded)
  expect(left).toBeGreaterThanOrEqual(0)
  left = 100_000
  // Longer texts are refused as a whole, before they are copied.
  expect(() => matchesRow(parseFilter('title=like.b%'), TYPES, { title: 'a'.repeat(1_000_000) }, work)).toThrow(
    WorkExceeded,
  )
  expect(left).toBeGreaterThan(99_000)
  expect(matchesRow(parseFilter('title=eq.b'), TYPES, { title: 'a'.repeat(1_000_000) }, work)).toBe(false)
})

test.each(['(', '"', '{', ',', '"\\', '(,', 'a=in.(1,2),"'])('a list of %j without end is one filter', (piece) => {
  const list = `title=eq.${piece.repeat(4_000)}`
  expect(parseFilters(list.replaceAll('a=in', 'b.in')).map(({ column }) => column)).toEqual(['title'])
})

test('no pattern takes disproportionate time', () => {
  const row = { title: `${'a'.repeat(5_000)}!` }
  const hostile = [
    'title=match.^(a+)+$',
    'title=match.^(a|a)*$',
    'title=match.(.*)(.*)(.*)(.*)(.*)x',
    `title=like.${'%a'.repeat(40)}b`,
  ]
  for (const text of hostile) expect(matchesRow(parseFilter(text), TYPES, row)).toBe(false)
})
