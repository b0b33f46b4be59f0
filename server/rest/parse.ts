/** The query string as PostgREST reads it: what to select, which rows, in which order. Names are not looked up here. */
import { type Field, type Filter, readCondition, readField, readName } from '#server/database/filter.ts'
import { createScanner, type Scanner } from '#server/database/scanner.ts'
import { restError } from './errors.ts'

export type SelectItem =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'field'
      readonly field: Field
      readonly cast: string | undefined
      readonly alias: string | undefined
    }
  | { readonly kind: 'embedded'; readonly relation: string }

export interface OrderTerm {
  readonly field: Field
  readonly direction: 'asc' | 'desc' | undefined
  readonly nulls: 'first' | 'last' | undefined
}

export type Logic =
  | { readonly kind: 'filter'; readonly filter: Filter }
  | { readonly kind: 'and' | 'or'; readonly negated: boolean; readonly parts: readonly Logic[] }

export interface Query {
  readonly select: readonly SelectItem[]
  /** All of these must hold. */
  readonly where: readonly Logic[]
  readonly order: readonly OrderTerm[]
  readonly limit: bigint | undefined
  readonly offset: bigint | undefined
  readonly columns: readonly string[] | undefined
  readonly onConflict: readonly string[] | undefined
  /** Parameters of a function called by GET, in the order given. */
  readonly args: readonly (readonly [name: string, value: string])[]
}

// Deeper or longer than anybody writes by hand, shallow enough for PostgreSQL's parser.
const DEEPEST_LOGIC = 50
const LONGEST_PATH = 100

const skipSpace = (scanner: Scanner) => scanner.match(/[ \t]*/y)

function readList<Item>(scanner: Scanner, readItem: () => Item): Item[] {
  const items: Item[] = []
  do {
    skipSpace(scanner)
    items.push(readItem())
    skipSpace(scanner)
  } while (scanner.take(','))
  return items
}

function readBoundedField(scanner: Scanner): Field {
  const field = readField(scanner)
  return field.path.length > LONGEST_PATH ? scanner.fail('a shorter json path') : field
}

const notEmbedded = (name: string) =>
  restError('PGRST108', `'${name}' is not an embedded resource in this request`, {
    hint: `Verify that '${name}' is included in the 'select' query parameter.`,
  })

const aggregatesRefused = () => restError('PGRST123', 'Use of aggregate functions is not allowed')

/** `relation(…)`, `relation!hint(…)`; the inside is not looked at. */
function readEmbedded(scanner: Scanner): SelectItem | undefined {
  return scanner.attempt(() => {
    const relation = readName(scanner)
    while (scanner.take('!')) readName(scanner)
    if (relation === 'count' || !scanner.take('(')) return undefined
    for (let depth = 1; depth > 0;) {
      if (scanner.take(')')) depth -= 1
      else if (scanner.take('(')) depth += 1
      else if (scanner.match(/"(?:[^"\\]|\\.)*"|[^()"]+|"/sy) === undefined) scanner.fail('")"')
    }
    return { kind: 'embedded', relation }
  })
}

function readSelectItem(scanner: Scanner): SelectItem {
  if (scanner.match(/\*(?=[ \t]*(?:,|$))/y) !== undefined) return { kind: 'all' }
  const isSpread = scanner.take('...')
  const alias = scanner.attempt(() => {
    const name = readName(scanner)
    return scanner.match(/:(?!:)/y) === undefined ? undefined : name
  })
  const embedded = readEmbedded(scanner)
  if (embedded) return embedded
  if (isSpread) return scanner.fail('a relation')
  if (scanner.sees('count()')) throw aggregatesRefused()
  const field = readBoundedField(scanner)
  const cast = scanner.take('::') ? readTypeName(scanner) : undefined
  if (scanner.match(/\.(?:sum|avg|count|max|min)\(\)/y) !== undefined) throw aggregatesRefused()
  return { kind: 'field', field, cast, alias }
}

const readTypeName = (scanner: Scanner): string =>
  scanner.match(/[\p{L}\p{N}_$ ]+/uy)?.trim() ?? scanner.fail('letter or digit')

function readOrderTerm(scanner: Scanner): OrderTerm {
  const field = readBoundedField(scanner)
  if (scanner.sees('(')) throw notEmbedded(field.column)
  const direction = scanner.take('.asc') ? 'asc' : scanner.take('.desc') ? 'desc' : undefined
  const nulls = scanner.take('.nullsfirst') ? 'first' : scanner.take('.nullslast') ? 'last' : undefined
  return { field, direction, nulls }
}

/** `and(…)`, `not.or(…)` or `column.operator.value`. */
function readLogic(scanner: Scanner, depth = 0): Logic {
  if (depth > DEEPEST_LOGIC) scanner.fail('fewer levels of and/or')
  const opening = scanner.match(/(?:not\.)?(?:and|or)[ \t]*\(/y)
  if (opening !== undefined) {
    const parts = readList(scanner, () => readLogic(scanner, depth + 1))
    scanner.expect(')')
    return { kind: opening.includes('and') ? 'and' : 'or', negated: opening.startsWith('not.'), parts }
  }
  const field = readBoundedField(scanner)
  if (!scanner.take('.')) scanner.fail('delimiter (.)')
  return { kind: 'filter', filter: { ...field, ...readCondition(scanner, { isListed: true }) } }
}

/** Reads all of `text`. @param what names it in error messages. */
function parseWith<Result>(what: string, text: string, read: (scanner: Scanner) => Result): Result {
  const scanner = createScanner(what, text)
  const result = read(scanner)
  scanner.expectEnd()
  return result
}

/** The column that a filter parameter is named after. */
function parseKey(key: string): Field {
  return parseWith('tree path', key, (scanner) => {
    const field = readBoundedField(scanner)
    if (field.path.length === 0 && scanner.take('.')) throw notEmbedded(field.column)
    return field
  })
}

const parseNames = (what: string, text: string): string[] =>
  parseWith(`${what} parameter`, text, (scanner) => readList(scanner, () => readName(scanner)))

function parseCount(name: string, text: string): bigint {
  return parseWith(name, text, (scanner) => BigInt(scanner.match(/-?\d{1,18}/y) ?? scanner.fail('digit')))
}

const EMBEDDABLE = new Set(['order', 'limit', 'offset', 'and', 'or'])

/**
 * @param isCall parameters that are no filter are arguments of a function called by GET.
 * @throws AppError with what does not parse, RestError for what is not offered.
 */
export function parseQuery(parameters: URLSearchParams, { isCall }: { isCall: boolean }): Query {
  const where: Logic[] = []
  const args: (readonly [string, string])[] = []
  for (const [key, value] of parameters) {
    const word = key.slice(key.lastIndexOf('.') + 1)
    if (['select', 'columns', 'on_conflict'].includes(key)) continue
    if (!EMBEDDABLE.has(word)) {
      const condition = parseFilterParameter(key, value, isCall)
      if (condition) where.push(condition)
      else args.push([key, value])
    } else if (word === 'and' || word === 'or') {
      if (key !== word && key !== `not.${word}`) throw notEmbedded(key.slice(0, key.indexOf('.')))
      where.push(parseWith('logic tree', `${key}${value}`, readLogic))
    } else if (key !== word) throw notEmbedded(key.slice(0, key.indexOf('.')))
  }
  const one = <Result>(name: string, parse: (text: string) => Result): Result | undefined => {
    const text = parameters.get(name)
    return text === null ? undefined : parse(text)
  }
  return {
    where,
    args,
    select: one('select', parseSelect) ?? [{ kind: 'all' }],
    order:
      one('order', (text) => parseWith('order', text, (scanner) => readList(scanner, () => readOrderTerm(scanner)))) ??
      [],
    limit: one('limit', (text) => parseCount('limit', text)),
    offset: one('offset', (text) => parseCount('offset', text)),
    columns: one('columns', (text) => parseNames('columns', text)),
    onConflict: one('on_conflict', (text) => parseNames('on_conflict', text)),
  }
}

function parseFilterParameter(key: string, value: string, isCall: boolean): Logic | undefined {
  const scanner = createScanner('filter', value)
  const read = () => {
    const condition = readCondition(scanner, { isListed: false })
    scanner.expectEnd()
    return condition
  }
  const condition = isCall ? scanner.attempt(read) : read()
  return condition && { kind: 'filter', filter: { ...parseKey(key), ...condition } }
}

const parseSelect = (text: string): SelectItem[] =>
  text.trim() === ''
    ? []
    : parseWith('select parameter', text, (scanner) => readList(scanner, () => readSelectItem(scanner)))
