/** Looks every name of a request up in the catalogue. After this nothing is refused but by PostgreSQL. */
import { restError, unknownColumn } from './errors.ts'
import { type Query } from './parse-query.ts'
import { parsePayload, type Payload } from './parse-payload.ts'
import { type SelectPlan, type ResultPlan, planResult, planReturning, relationSource, resolveLogicTree, type TypedLogicTree } from './plan-select.ts'
import { type Media, type RestRequest } from './parse-request.ts'
import { type Catalogue, type Column, type Relation } from './schema-cache.ts'

export interface ReadPlan extends ResultPlan {
  readonly kind: 'read'
  readonly relation: Relation
  readonly media: Media
}

interface WritePlan extends Pick<SelectPlan, 'output' | 'order'> {
  readonly relation: Relation
  readonly media: Media
  /** What the answer shows of the rows written; nothing needs reading for `none`. */
  readonly returns: 'rows' | 'key' | 'none'
}

export interface WriteColumn {
  readonly column: Column
  /** SQL for rows that leave the column out; undefined: null. */
  readonly fallback: string | undefined
}

export interface InsertPlan extends WritePlan {
  readonly kind: 'insert'
  readonly columns: readonly WriteColumn[]
  readonly payload: Payload
  readonly conflict: { readonly columns: readonly string[]; readonly isMerged: boolean } | undefined
}

export interface UpdatePlan extends WritePlan {
  readonly kind: 'update'
  readonly columns: readonly WriteColumn[]
  readonly payload: Payload
  readonly where: readonly TypedLogicTree[]
}

export interface DeletePlan extends WritePlan {
  readonly kind: 'delete'
  readonly where: readonly TypedLogicTree[]
}

export type TablePlan = ReadPlan | InsertPlan | UpdatePlan | DeletePlan

function resolveWriteColumns(relation: Relation, names: readonly string[], appliesDefaults: boolean): WriteColumn[] {
  return [...new Set(names)].map((name) => {
    const column = relation.columns.get(name)
    if (!column) {
      throw restError('PGRST204', `Could not find the '${name}' column of '${relation.name}' in the schema cache`)
    }
    return { column, fallback: (appliesDefaults ? column.fallback : undefined) ?? undefined }
  })
}

function planConflict(relation: Relation, query: Query, resolution: string | undefined): InsertPlan['conflict'] {
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
  const source = relationSource(catalogue, relation)
  if (method === 'GET' || method === 'HEAD') {
    return { kind: 'read', relation, media, ...planResult(catalogue, source, request, maxRows) }
  }
  const returned = preferences.return
  const writing: WritePlan = {
    relation,
    media,
    returns: returned === 'representation' ? 'rows' : returned === 'headers-only' && method === 'POST' ? 'key' : 'none',
    ...planReturning(catalogue, source, request, maxRows),
  }
  const where = query.where.map((logic) => resolveLogicTree(source, [], logic))
  if (method === 'DELETE') return { kind: 'delete', ...writing, where }
  const payload = requirePayload(request)
  const columns = resolveWriteColumns(relation, query.columns ?? payload.keys, preferences.missing === 'default')
  if (method === 'PATCH') return { kind: 'update', ...writing, where, columns, payload }
  return { kind: 'insert', ...writing, columns, payload, conflict: planConflict(relation, query, preferences.resolution) }
}
