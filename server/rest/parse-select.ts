import { type Field, readField, readName } from '#server/database/filter.ts'
import type { Scanner } from '#server/database/scanner.ts'
import { restError } from './errors.ts'

/** `alias:relation!hint!inner(…)`, or `...relation(…)` to spread the columns into the outer row. */
export interface Embedding {
  readonly kind: 'embedded'
  /** A table, a foreign key, or a foreign key's only column. */
  readonly relation: string
  readonly alias: string | undefined
  readonly hint: string | undefined
  /** Drops outer rows without an embedded row. */
  readonly isInner: boolean
  readonly isSpread: boolean
  readonly select: readonly SelectItem[]
}

export type SelectItem =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'field'
      readonly field: Field
      readonly cast: string | undefined
      readonly alias: string | undefined
    }
  | Embedding

const MAX_JSON_PATH_LENGTH = 100
// Each embedding is a join; these limits bound the planner's effort.
const MAX_EMBEDDING_DEPTH = 10
const MAX_EMBEDDINGS = 50
/** PostgreSQL makes all values of a row together, so a large value must not be named at will. */
const MAX_REPEATED_COLUMNS = 100

const skipSpace = (scanner: Scanner) => scanner.match(/[ \t]*/y)

export function readList<Item>(scanner: Scanner, readItem: () => Item): Item[] {
  const items: Item[] = []
  do {
    skipSpace(scanner)
    items.push(readItem())
    skipSpace(scanner)
  } while (scanner.take(','))
  return items
}

export function readBoundedField(scanner: Scanner): Field {
  const field = readField(scanner)
  return field.path.length > MAX_JSON_PATH_LENGTH ? scanner.fail('a shorter json path') : field
}

const readTypeName = (scanner: Scanner): string =>
  scanner.match(/[\p{L}\p{N}_$ ]+/uy)?.trim() ?? scanner.fail('letter or digit')

const aggregatesNotAllowed = () => restError('PGRST123', 'Use of aggregate functions is not allowed')

/** Reads up to two modifiers: the join type (`!left` is the default) and a hint for an ambiguous relationship. */
function readModifiers(scanner: Scanner): Pick<Embedding, 'hint' | 'isInner'> {
  const modifiers: string[] = []
  while (modifiers.length < 2 && scanner.take('!')) modifiers.push(readName(scanner))
  return {
    hint: modifiers.find((word) => word !== 'inner' && word !== 'left'),
    isInner: modifiers.includes('inner'),
  }
}

function readAlias(scanner: Scanner): string | undefined {
  return scanner.attempt(() => {
    const name = readName(scanner)
    return scanner.match(/:(?!:)/y) === undefined ? undefined : name
  })
}

function createItemReader(scanner: Scanner) {
  let embeddings = 0
  let repeatedColumns = 0

  function readItem(depth: number): SelectItem {
    if (scanner.match(/\*(?=[ \t]*(?:[,)]|$))/y) !== undefined) return { kind: 'all' }
    const isSpread = scanner.take('...')
    const alias = isSpread ? undefined : readAlias(scanner)
    const opening = scanner.attempt(() => {
      const relation = readName(scanner)
      const modifiers = readModifiers(scanner)
      return relation !== 'count' && scanner.take('(') ? { relation, ...modifiers } : undefined
    })
    if (opening) {
      embeddings += 1
      if (depth >= MAX_EMBEDDING_DEPTH) scanner.fail('fewer levels of embedded relations')
      if (embeddings > MAX_EMBEDDINGS) scanner.fail('fewer embedded relations')
      const select = readItems(depth + 1)
      scanner.expect(')')
      return { kind: 'embedded', ...opening, alias, isSpread, select }
    }
    if (isSpread) return scanner.fail('a relation')
    if (scanner.sees('count()')) throw aggregatesNotAllowed()
    const field = readBoundedField(scanner)
    const cast = scanner.take('::') ? readTypeName(scanner) : undefined
    if (scanner.match(/\.(?:sum|avg|count|max|min)\(\)/y) !== undefined) throw aggregatesNotAllowed()
    return { kind: 'field', field, cast, alias }
  }

  function readItems(depth: number): SelectItem[] {
    skipSpace(scanner)
    const items = scanner.isAtEnd || scanner.sees(')') ? [] : readList(scanner, () => readItem(depth))
    const columns = items.flatMap((item) =>
      item.kind === 'embedded' ? [] : [item.kind === 'all' ? '*' : item.field.column],
    )
    repeatedColumns += columns.length - new Set(columns).size
    if (repeatedColumns > MAX_REPEATED_COLUMNS) scanner.fail('fewer repetitions of a column')
    return items
  }

  return readItems
}

export const readSelect = (scanner: Scanner): SelectItem[] => createItemReader(scanner)(0)
