/** Looks every name of a request up in the catalogue. After this nothing is refused but by PostgreSQL. */
import { type Field, type Filter } from '#server/database/filter.ts'
import { RestError, restError, unknownColumn } from './errors.ts'
import { type Logic, type OrderTerm, type Query, type SelectItem } from './parse.ts'
import { parsePayload, type Payload } from './payload.ts'
import { type RowRange, resolveRange } from './range.ts'
import { type Media, type RestRequest } from './request.ts'
import { type Catalogue, type Column, type Relation } from './schema-cache.ts'

/** A field with the type of its column. */
interface TypedField extends Field {
  readonly type: string
}

export type OutputColumn =
  | { readonly kind: 'all' }
  | { readonly kind: 'field'; readonly field: TypedField; readonly castSql: string | undefined; readonly name: string }

export type TypedLogic =
  | { readonly kind: 'filter'; readonly filter: Filter; readonly type: string }
  | { readonly kind: 'and' | 'or'; readonly negated: boolean; readonly parts: readonly TypedLogic[] }

export interface TypedOrder extends Omit<OrderTerm, 'field'> {
  readonly field: TypedField
}

/** Which rows of a source come out, and how. */
export interface Reading {
  readonly output: readonly OutputColumn[]
  readonly where: readonly TypedLogic[]
  readonly order: readonly TypedOrder[]
  readonly range: RowRange
  readonly count: 'exact' | 'planned' | 'estimated' | undefined
  /** HEAD: rows are counted, not rendered. */
  readonly isHead: boolean
  readonly maxRows: number | undefined
}

export interface ReadPlan extends Reading {
  readonly kind: 'read'
  readonly relation: Relation
  readonly media: Media
}

interface Writing {
  readonly relation: Relation
  readonly media: Media
  /** What the answer shows of the rows written; nothing needs reading for `none`. */
  readonly returns: 'rows' | 'key' | 'none'
  readonly output: readonly OutputColumn[]
  readonly order: readonly TypedOrder[]
}

export interface WriteColumn {
  readonly column: Column
  /** SQL for rows that leave the column out; undefined: null. */
  readonly fallback: string | undefined
}

export interface InsertPlan extends Writing {
  readonly kind: 'insert'
  readonly columns: readonly WriteColumn[]
  readonly payload: Payload
  readonly conflict: { readonly columns: readonly string[]; readonly isMerged: boolean } | undefined
}

export interface UpdatePlan extends Writing {
  readonly kind: 'update'
  readonly columns: readonly WriteColumn[]
  readonly payload: Payload
  readonly where: readonly TypedLogic[]
}

export interface DeletePlan extends Writing {
  readonly kind: 'delete'
  readonly where: readonly TypedLogic[]
}

export type TablePlan = ReadPlan | InsertPlan | UpdatePlan | DeletePlan

/** The columns that a source of rows has: a relation, or what a function returns. */
export interface Source {
  readonly name: string
  readonly schema: string
  typeOf(column: string): string | undefined
  /** How many columns `*` stands for. */
  readonly width: number
}

/** PostgreSQL refuses longer lists of columns as too complex. */
const MOST_OUTPUT_COLUMNS = 1_600

export const sourceOf = (relation: Relation): Source => ({
  name: relation.name,
  schema: relation.schema,
  width: relation.columns.size,
  typeOf: (column) => relation.columns.get(column)?.type ?? relation.computed.get(column),
})

function typed(source: Source, field: Field): TypedField {
  const type = source.typeOf(field.column)
  if (type === undefined) throw unknownColumn(source.name, field.column)
  return { ...field, type }
}

function typedLogic(source: Source, logic: Logic): TypedLogic {
  if (logic.kind !== 'filter') return { ...logic, parts: logic.parts.map((part) => typedLogic(source, part)) }
  return { kind: 'filter', filter: logic.filter, type: typed(source, logic.filter).type }
}

const orderOf = (source: Source, order: readonly OrderTerm[]): TypedOrder[] =>
  order.map((term) => ({ ...term, field: typed(source, term.field) }))

/** The name that a column has in the answer: its alias, or the last key of its path. */
const nameOf = ({ column, path }: Field): string => path.findLast((step) => !step.isIndex)?.key ?? column

function outputOf(catalogue: Catalogue, source: Source, items: readonly SelectItem[]): OutputColumn[] {
  const output = items.map((item): OutputColumn => {
    if (item.kind === 'all') return item
    if (item.kind === 'embedded') {
      throw restError(
        'PGRST200',
        `Could not find a relationship between '${source.name}' and '${item.relation}' in the schema cache`,
        {
          details: `Searched for a foreign key relationship between '${source.name}' and '${item.relation}' in the schema '${source.schema}', but no matches were found.`,
        },
      )
    }
    const castSql = item.cast === undefined ? undefined : catalogue.typeToSql(item.cast)
    if (item.cast !== undefined && castSql === undefined) {
      throw new RestError('42704', 400, `type "${item.cast}" does not exist`)
    }
    return { kind: 'field', field: typed(source, item.field), castSql, name: item.alias ?? nameOf(item.field) }
  })
  const width = output.reduce((sum, { kind }) => sum + (kind === 'all' ? source.width : 1), 0)
  if (width > MOST_OUTPUT_COLUMNS) throw restError('PGRST100', `More than ${MOST_OUTPUT_COLUMNS} columns are selected`)
  return output
}

/** What the query parameters ask of a source. */
export function readingOf(
  catalogue: Catalogue,
  source: Source,
  request: RestRequest,
  maxRows: number | undefined,
): Reading {
  const { query, method, preferences } = request
  return {
    output: outputOf(catalogue, source, query.select),
    where: query.where.map((logic) => typedLogic(source, logic)),
    order: orderOf(source, query.order),
    range: resolveRange(query, request.range, maxRows),
    count: preferences.count,
    isHead: method === 'HEAD',
    maxRows,
  }
}

function writeColumns(relation: Relation, names: readonly string[], appliesDefaults: boolean): WriteColumn[] {
  return [...new Set(names)].map((name) => {
    const column = relation.columns.get(name)
    if (!column) {
      throw restError('PGRST204', `Could not find the '${name}' column of '${relation.name}' in the schema cache`)
    }
    return { column, fallback: (appliesDefaults ? column.fallback : undefined) ?? undefined }
  })
}

function conflictOf(relation: Relation, query: Query, resolution: string | undefined): InsertPlan['conflict'] {
  const columns = query.onConflict ?? relation.primaryKey
  if (resolution === undefined || columns.length === 0) return undefined
  const unknown = columns.find((name) => !relation.columns.has(name))
  if (unknown !== undefined) throw unknownColumn(relation.name, unknown)
  return { columns, isMerged: resolution === 'merge-duplicates' }
}

function requirePayload({ contentType, body, query }: RestRequest): Payload {
  if (contentType !== 'application/json') throw restError('PGRST102', `Content-Type not acceptable: ${contentType}`)
  return parsePayload(body, { hasColumns: query.columns !== undefined })
}

/** The plan for a request on a table or view. */
export function planTable(
  catalogue: Catalogue,
  relation: Relation,
  request: RestRequest,
  maxRows: number | undefined,
): TablePlan {
  const { query, media, preferences, method } = request
  const source = sourceOf(relation)
  if (method === 'GET' || method === 'HEAD') {
    return { kind: 'read', relation, media, ...readingOf(catalogue, source, request, maxRows) }
  }
  const returned = preferences.return
  const writing: Writing = {
    relation,
    media,
    returns: returned === 'representation' ? 'rows' : returned === 'headers-only' && method === 'POST' ? 'key' : 'none',
    output: outputOf(catalogue, source, query.select),
    order: orderOf(source, query.order),
  }
  const where = query.where.map((logic) => typedLogic(source, logic))
  if (method === 'DELETE') return { kind: 'delete', ...writing, where }
  const payload = requirePayload(request)
  const columns = writeColumns(relation, query.columns ?? payload.keys, preferences.missing === 'default')
  if (method === 'PATCH') return { kind: 'update', ...writing, where, columns, payload }
  return { kind: 'insert', ...writing, columns, payload, conflict: conflictOf(relation, query, preferences.resolution) }
}
