/** Parses the query string in PostgREST's syntax; planning resolves the names. */
import { type Field, type Filter, readCondition, readName } from '#server/database/filter.ts'
import { requireBoundedPattern } from '#server/database/pattern-limits.ts'
import { createScanner, type Scanner } from '#server/database/scanner.ts'
import { readBoundedField, readList, readSelect, type SelectItem } from './parse-select.ts'

export interface OrderTerm {
  /** Undefined: the selected relation. */
  readonly embedded: string | undefined
  readonly field: Field
  readonly direction: 'asc' | 'desc' | undefined
  readonly nulls: 'first' | 'last' | undefined
}

export type LogicTree =
  | { readonly kind: 'filter'; readonly filter: Filter }
  | { readonly kind: 'and' | 'or'; readonly negated: boolean; readonly parts: readonly LogicTree[] }

export interface Clauses {
  readonly where: readonly LogicTree[]
  readonly order: readonly OrderTerm[]
  readonly limit: bigint | undefined
  readonly offset: bigint | undefined
}

export interface Query extends Clauses {
  readonly select: readonly SelectItem[]
  /** The path starts with the outermost name. */
  readonly nested: readonly { readonly path: readonly string[]; readonly clauses: Clauses }[]
  readonly columns: readonly string[] | undefined
  readonly onConflict: readonly string[] | undefined
  /** For a function called by GET. */
  readonly args: readonly (readonly [name: string, value: string])[]
}

// Shallow enough for PostgreSQL's parser.
const MAX_LOGIC_DEPTH = 50

function readOrderTerm(scanner: Scanner): OrderTerm {
  const embedded = scanner.attempt(() => {
    const name = readName(scanner)
    return scanner.take('(') ? name : undefined
  })
  const field = readBoundedField(scanner)
  if (embedded !== undefined) scanner.expect(')')
  const direction = scanner.take('.asc') ? 'asc' : scanner.take('.desc') ? 'desc' : undefined
  const nulls = scanner.take('.nullsfirst') ? 'first' : scanner.take('.nullslast') ? 'last' : undefined
  return { embedded, field, direction, nulls }
}

function readBoundedCondition(scanner: Scanner, options: { isListed: boolean }): ReturnType<typeof readCondition> {
  const condition = readCondition(scanner, options)
  requireBoundedPattern(condition)
  return condition
}

/** For example `and(…)`, `not.or(…)` or `column.operator.value`. */
function readLogicTree(scanner: Scanner, depth = 0): LogicTree {
  if (depth > MAX_LOGIC_DEPTH) scanner.fail('fewer levels of and/or')
  const opening = scanner.match(/(?:not\.)?(?:and|or)[ \t]*\(/y)
  if (opening !== undefined) {
    const parts = readList(scanner, () => readLogicTree(scanner, depth + 1))
    scanner.expect(')')
    return { kind: opening.includes('and') ? 'and' : 'or', negated: opening.startsWith('not.'), parts }
  }
  const field = readBoundedField(scanner)
  if (!scanner.take('.')) scanner.fail('delimiter (.)')
  return { kind: 'filter', filter: { ...field, ...readBoundedCondition(scanner, { isListed: true }) } }
}

/** @param what names the text in error messages. */
function parseWith<Result>(what: string, text: string, read: (scanner: Scanner) => Result): Result {
  const scanner = createScanner(what, text)
  const result = read(scanner)
  scanner.expectEnd()
  return result
}

const parsePath = (key: string): string[] =>
  parseWith('tree path', key, (scanner) => {
    const names = [readName(scanner)]
    while (scanner.take('.')) names.push(readName(scanner))
    return names
  })

/** `column`, or `relation.column` for a column of an embedded relation. */
const parseColumnPath = (key: string): { path: string[]; field: Field } =>
  parseWith('tree path', key, (scanner) => {
    const path: string[] = []
    let field = readBoundedField(scanner)
    while (field.path.length === 0 && scanner.take('.')) {
      path.push(field.column)
      field = readBoundedField(scanner)
    }
    return { path, field }
  })

const parseNames = (what: string, text: string): string[] =>
  parseWith(`${what} parameter`, text, (scanner) => readList(scanner, () => readName(scanner)))

function parseCount(name: string, text: string): bigint {
  return parseWith(name, text, (scanner) => BigInt(scanner.match(/-?\d{1,18}/y) ?? scanner.fail('digit')))
}

type MutableClauses = { -readonly [Name in keyof Clauses]: Clauses[Name] } & { where: LogicTree[] }

export const NO_CLAUSES: Clauses = { where: [], order: [], limit: undefined, offset: undefined }

function createClauseCollector() {
  const collected = new Map<string, { path: readonly string[]; clauses: MutableClauses }>()
  return {
    at(path: readonly string[]): MutableClauses {
      const key = JSON.stringify(path)
      const entry = collected.get(key) ?? { path, clauses: { ...NO_CLAUSES, where: [] } }
      collected.set(key, entry)
      return entry.clauses
    },
    nested: () => [...collected.values()].filter(({ path }) => path.length > 0),
  }
}

const CLAUSE_NAMES = new Set(['order', 'limit', 'offset', 'and', 'or'])

/** The first of repeated clauses wins. */
function readClause(
  collected: ReturnType<typeof createClauseCollector>,
  key: string,
  value: string,
  seen: Set<string>,
): void {
  const path = parsePath(key)
  const word = path.pop() ?? ''
  if (word === 'and' || word === 'or') {
    const relations = path.filter((name) => name !== 'not')
    const negation = relations.length < path.length ? 'not.' : ''
    collected.at(relations).where.push(parseWith('logic tree', `${negation}${word}${value}`, readLogicTree))
    return
  }
  if (seen.has(key)) return
  seen.add(key)
  const clauses = collected.at(path)
  if (word === 'order') {
    clauses.order = parseWith('order', value, (scanner) => readList(scanner, () => readOrderTerm(scanner)))
  } else if (word === 'limit') clauses.limit = parseCount('limit', value)
  else clauses.offset = parseCount('offset', value)
}

/** `isCall`: other parameters are arguments. @throws AppError for bad syntax, RestError if unsupported. */
export function parseQuery(parameters: URLSearchParams, { isCall }: { isCall: boolean }): Query {
  const collected = createClauseCollector()
  const seen = new Set<string>()
  const args: (readonly [string, string])[] = []
  for (const [key, value] of parameters) {
    if (['select', 'columns', 'on_conflict'].includes(key)) continue
    if (CLAUSE_NAMES.has(key.slice(key.lastIndexOf('.') + 1))) {
      readClause(collected, key, value, seen)
      continue
    }
    const condition = parseCondition(value, isCall)
    if (condition) {
      const { path, field } = parseColumnPath(key)
      collected.at(path).where.push({ kind: 'filter', filter: { ...field, ...condition } })
    } else args.push([key, value])
  }
  const parseOnce = <Result>(name: string, parse: (text: string) => Result): Result | undefined => {
    const text = parameters.get(name)
    return text === null ? undefined : parse(text)
  }
  return {
    ...collected.at([]),
    nested: collected.nested(),
    args,
    select: parseOnce('select', (text) => parseWith('select parameter', text, readSelect)) ?? [{ kind: 'all' }],
    columns: parseOnce('columns', (text) => parseNames('columns', text)),
    onConflict: parseOnce('on_conflict', (text) => parseNames('on_conflict', text)),
  }
}

function parseCondition(value: string, isCall: boolean): ReturnType<typeof readCondition> | undefined {
  const scanner = createScanner('filter', value)
  const read = () => {
    const condition = readBoundedCondition(scanner, { isListed: false })
    scanner.expectEnd()
    return condition
  }
  return isCall ? scanner.attempt(read) : read()
}
