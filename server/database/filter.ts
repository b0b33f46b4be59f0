/** Filters in PostgREST's syntax, rendered as SQL. Values go through `bind`. */
import pg from 'pg'
import { createScanner, readQuoted, type Scanner } from './scanner.ts'

interface JsonStep {
  readonly arrow: '->' | '->>'
  readonly key: string
  readonly isIndex: boolean
}

export interface Field {
  readonly column: string
  readonly path: readonly JsonStep[]
}

const COMPARISONS = {
  eq: '=', neq: '<>', gt: '>', gte: '>=', lt: '<', lte: '<=', like: 'like', ilike: 'ilike', match: '~', imatch: '~*',
  isdistinct: 'is distinct from', cs: '@>', cd: '<@', ov: '&&', sl: '<<', sr: '>>', nxr: '&<', nxl: '&>', adj: '-|-',
} as const // prettier-ignore
const TEXT_SEARCHES = {
  fts: 'to_tsquery',
  plfts: 'plainto_tsquery',
  phfts: 'phraseto_tsquery',
  wfts: 'websearch_to_tsquery',
} as const
const TRUTHS = { null: 'null', not_null: 'not null', true: 'true', false: 'false', unknown: 'unknown' } as const
const QUANTIFIABLE: ReadonlySet<string> = new Set(['eq', 'gt', 'gte', 'lt', 'lte', 'like', 'ilike', 'match', 'imatch'])

export type Comparison = keyof typeof COMPARISONS
export type TextSearch = keyof typeof TEXT_SEARCHES
type Truth = keyof typeof TRUTHS

type Condition =
  | { readonly operator: Comparison; readonly value: string; readonly quantifier?: 'any' | 'all' | undefined }
  | { readonly operator: 'in'; readonly value: readonly string[] }
  | { readonly operator: 'is'; readonly value: Truth }
  | { readonly operator: TextSearch; readonly value: string; readonly language?: string | undefined }

export type Filter = Field & Condition & { readonly negated: boolean }

const isKeyOf = <Table extends object>(table: Table, key: string): key is Extract<keyof Table, string> =>
  Object.hasOwn(table, key)

export function readName(scanner: Scanner): string {
  const name = readQuoted(scanner) ?? scanner.match(/[\p{L}\p{N}_$ ]+(?:-(?!>)[\p{L}\p{N}_$ ]+)*/uy)?.trim()
  return name === undefined || name === '' ? scanner.fail('field name (* or [a..z0..9_$])') : name
}

export function readField(scanner: Scanner): Field {
  const column = readName(scanner)
  const path: JsonStep[] = []
  while (scanner.sees('->')) {
    const arrow = scanner.take('->>') ? '->>' : '->'
    if (arrow === '->') scanner.expect('->')
    const index = scanner.match(/-?\d+(?=->|::|[.,)]|$)/y)
    const key = index ?? readQuoted(scanner) ?? scanner.match(/[^(\-:.,>)]+(?:-(?!>)[^(\-:.,>)]+)*/y)?.trim()
    if (key === undefined) scanner.fail('json key or index')
    path.push({ arrow, key, isIndex: index !== undefined })
  }
  return { column, path }
}

const readWhole = (scanner: Scanner): string => scanner.match(/.*/sy) ?? ''

/** A value in a list (`or=(a.eq.1,b.eq."x,y")`): quoted, an array literal, or up to a comma or parenthesis. */
const readListed = (scanner: Scanner): string =>
  scanner.attempt(() => {
    const quoted = readQuoted(scanner)
    return quoted !== undefined && (scanner.isAtEnd || scanner.sees(',') || scanner.sees(')')) ? quoted : undefined
  }) ??
  scanner.match(/\{[^{}]*\}/y) ??
  scanner.match(/[^,)]*/y) ??
  ''

function readList(scanner: Scanner): string[] {
  if (scanner.match(/[ \t]*\([ \t]*/y) === undefined) scanner.fail('"("')
  const values: string[] = []
  do {
    const quoted = scanner.attempt(() => {
      const text = readQuoted(scanner)
      return text !== undefined && (scanner.sees(',') || scanner.sees(')')) ? text : undefined
    })
    values.push(quoted ?? scanner.match(/[^,)]*/y) ?? '')
  } while (scanner.take(','))
  scanner.expect(')')
  scanner.match(/[ \t]*/y)
  return values.length === 1 && values[0] === '' ? [] : values
}

/** @param isListed the value ends at the next filter of a list */
export function readCondition(scanner: Scanner, { isListed }: { isListed: boolean }): Condition & { negated: boolean } {
  const negated = scanner.take('not.')
  const condition = scanner.attempt(() => {
    const operator = scanner.match(/[a-z]+/y) ?? ''
    const modifier = scanner.match(/\([\p{L}\p{N}_ $]+\)/uy)?.slice(1, -1)
    if (!scanner.take('.')) return undefined
    return { operator, modifier }
  })
  if (!condition) return scanner.fail('operator (eq, gt, ...)')
  const { operator, modifier } = condition
  const readValue = isListed ? readListed : readWhole

  if (isKeyOf(TEXT_SEARCHES, operator))
    return { negated, operator, language: modifier?.trim(), value: readValue(scanner) }
  if (modifier === 'any' || modifier === 'all') {
    if (!QUANTIFIABLE.has(operator) || !isKeyOf(COMPARISONS, operator)) return scanner.fail('operator (eq, gt, ...)')
    return { negated, operator, quantifier: modifier, value: readValue(scanner) }
  }
  if (modifier !== undefined) return scanner.fail('operator (eq, gt, ...)')
  if (operator === 'in') return { negated, operator, value: readList(scanner) }
  if (operator === 'is') {
    const value = (scanner.match(/\w+/y) ?? '').toLowerCase()
    if (!isKeyOf(TRUTHS, value)) return scanner.fail('isVal: (null, not_null, true, false, unknown)')
    return { negated, operator, value }
  }
  if (!isKeyOf(COMPARISONS, operator)) return scanner.fail('operator (eq, gt, ...)')
  return { negated, operator, value: readValue(scanner) }
}

/** Parses `column=operator.value`; the value may be in double quotes. @throws AppError `bad_request` */
export function parseFilter(text: string): Filter {
  const [, name = text, rest] = /^((?:"(?:[^"\\]|\\.)*"|[^"=])*)=(.*)$/s.exec(text) ?? []
  const left = createScanner('filter', name)
  const field = readField(left)
  left.expectEnd()
  if (rest === undefined) return left.fail('"="')
  const right = createScanner('filter', rest)
  const condition = readCondition(right, { isListed: false })
  right.expectEnd()
  if (typeof condition.value !== 'string' || condition.operator === 'is') return { ...field, ...condition }
  const quoted = createScanner('filter', condition.value)
  const unquoted = quoted.attempt(() => {
    const inner = readQuoted(quoted)
    return quoted.isAtEnd ? inner : undefined
  })
  return { ...field, ...condition, value: unquoted ?? condition.value }
}

/** Parses `a=eq.1,b=in.(x,y)`, which requires all. A comma without a following `column=` belongs to the value. */
export const parseFilters = (text: string): Filter[] => splitFilters(text).map(parseFilter)

/** Quotes, parentheses and braces that are closed hold their commas. Takes time proportional to the text. */
function splitFilters(text: string): string[] {
  const parts: string[] = []
  const unclosed = new Set<string>()
  let [start, position] = [0, 0]
  const cut = () => {
    if (position > start) parts.push(text.slice(start, position))
    start = position + 1
  }
  while (position < text.length) {
    const character = text.charAt(position)
    const closer = CLOSERS[character]
    if (closer !== undefined && !unclosed.has(character)) {
      closer.lastIndex = position
      if (closer.test(text)) position = closer.lastIndex - 1
      else unclosed.add(character)
    } else if (character === ',') {
      NEXT_FILTER.lastIndex = position
      if (NEXT_FILTER.test(text)) cut()
    }
    position += 1
  }
  cut()
  return parts
}

const CLOSERS: Readonly<Record<string, RegExp>> = {
  '"': /"(?:[^"\\]|\\.)*"/sy,
  '(': /\([^)]*\)/y,
  '{': /\{[^}]*\}/y,
}
const NEXT_FILTER = /,[\p{L}\p{N}_$]+=/uy

export type Bind = (value: string) => string

export function fieldToSql({ column, path }: Field, type: string, bind: Bind, qualifier = ''): string {
  const name = `${qualifier && `${qualifier}.`}${pg.escapeIdentifier(column)}`
  if (path.length === 0) return name
  const json = type === 'json' || type === 'jsonb' ? name : `to_jsonb(${name})`
  return json + path.map(({ arrow, key, isIndex }) => `${arrow}${bind(key)}::${isIndex ? 'int' : 'text'}`).join('')
}

/** Placeholders stay untyped: a cast would cut text to a column's length and check a domain's constraints. */
export function filterToSql(filter: Filter, columnType: string, bind: Bind, qualifier = ''): string {
  const sql = conditionToSql(filter, columnType, bind, qualifier)
  return filter.negated ? `not (${sql})` : sql
}

function conditionToSql(filter: Filter, columnType: string, bind: Bind, qualifier: string): string {
  if (filter.operator === 'in' && filter.value.length === 0) return 'false'
  const field = fieldToSql(filter, columnType, bind, qualifier)
  if (filter.operator === 'is') return `${field} is ${TRUTHS[filter.value]}`
  if (filter.operator === 'in') return `${field} in (${filter.value.map((value) => bind(value)).join(', ')})`
  if (isKeyOf(TEXT_SEARCHES, filter.operator)) {
    const language =
      'language' in filter && filter.language !== undefined ? `${bind(filter.language)}::regconfig, ` : ''
    const isVector = columnType === 'tsvector' && filter.path.length === 0
    return `${isVector ? field : `to_tsvector(${language}${field})`} @@ ${TEXT_SEARCHES[filter.operator]}(${language}${bind(filter.value)})`
  }
  const isPattern = filter.operator === 'like' || filter.operator === 'ilike'
  const value = bind(isPattern ? filter.value.replaceAll('*', '%') : filter.value)
  const quantifier = 'quantifier' in filter ? filter.quantifier : undefined
  return `${field} ${COMPARISONS[filter.operator]} ${quantifier ? `${quantifier} (${value})` : value}`
}
