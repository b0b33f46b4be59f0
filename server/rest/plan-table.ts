/** After planning, only PostgreSQL rejects the request. */
import type { AnswerBounds } from './answer-bounds.ts'
import type { Catalogue, Relation } from './catalogue.ts'
import { restError, unknownColumn } from './errors.ts'
import { parsePayload, type Payload } from './parse-payload.ts'
import type { Query } from './parse-query.ts'
import type { RestRequest } from './parse-request.ts'
import { planResult, planReturning, relationSource, resolveLogicTree } from './plan-select.ts'
import type { InsertPlan, TablePlan, WriteColumn, WritePlan } from './plan.ts'

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

/** @throws RestError for an unknown name or an invalid payload. */
export function planTable(
  catalogue: Catalogue,
  relation: Relation,
  request: RestRequest,
  bounds: AnswerBounds,
): TablePlan {
  const { query, media, preferences, method } = request
  const source = relationSource(catalogue, relation)
  if (method === 'GET' || method === 'HEAD') {
    return { kind: 'read', relation, media, ...planResult(catalogue, source, request, bounds) }
  }
  const returned = preferences.return
  const writing: WritePlan = {
    relation,
    media,
    returns: returned === 'representation' ? 'rows' : returned === 'headers-only' && method === 'POST' ? 'key' : 'none',
    bounds,
    ...planReturning(catalogue, source, request, bounds),
  }
  const where = query.where.map((logic) => resolveLogicTree(source, [], logic))
  if (method === 'DELETE') return { kind: 'delete', ...writing, where }
  const payload = requirePayload(request)
  const columns = resolveWriteColumns(relation, query.columns ?? payload.keys, preferences.missing === 'default')
  if (method === 'PATCH') return { kind: 'update', ...writing, where, columns, payload }
  return {
    kind: 'insert',
    ...writing,
    columns,
    payload,
    conflict: planConflict(relation, query, preferences.resolution),
  }
}
