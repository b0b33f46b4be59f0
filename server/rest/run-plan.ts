/** Runs a plan in one transaction as the caller's role; checks of the result can still roll it back. */
import pg from 'pg'
import { z } from 'zod'
import type { DirectDispatch } from '#server/database/direct-dispatch.ts'
import { type Claims, type Database, GENERIC_PLANS, type Scope, type WriteOptions } from '#server/database/scope.ts'
import { restError } from './errors.ts'
import type { RestRequest } from './parse-request.ts'
import { isReadOnlyCall } from './plan-call.ts'
import type { Plan } from './plan.ts'
import { CLEARED_RESPONSE_SETTINGS, parseResponseSettings, type ResponseSettings } from './response-settings.ts'
import { callToSql } from './sql-call.ts'
import { estimateToSql, readToSql } from './sql-read.ts'
import type { Statement } from './sql-statement.ts'
import { writeToSql } from './sql-write.ts'

export interface StatementResult {
  readonly rows: number
  /** Total without limit and offset; undefined if the request asks for no count. */
  readonly total: number | undefined
  readonly body: string
  readonly inserted: number | undefined
  /** Only if exactly one row was written. */
  readonly location: readonly (readonly [name: string, condition: string])[] | undefined
  readonly responseSettings: ResponseSettings
}

/** Carries the result out of a transaction that `Prefer: tx=rollback` undoes. */
class RolledBack extends Error {
  readonly result: StatementResult

  constructor(result: StatementResult) {
    super('rolled back on request')
    this.result = result
  }
}

interface StatementRow {
  [name: string]: unknown
  rows: number
  total: number | null
  body: string
  inserted?: number | null
  location?: string | null
  response_status?: string | null
  response_headers?: string | null
}

const locationPairs = z.array(z.tuple([z.string(), z.string()]))
/** Supabase's default for PostgREST's `db-extra-search-path`. */
const EXTRA_SEARCH_PATH = ['public', 'extensions']
const explainOutput = z.tuple([z.object({ Plan: z.object({ 'Plan Rows': z.number() }) })])

function planToSql(plan: Plan): Statement {
  if (plan.kind === 'read') return readToSql(plan)
  return plan.kind === 'call' ? callToSql(plan) : writeToSql(plan)
}

async function estimateRows(scope: Scope, statement: Statement): Promise<number> {
  const { rows } = await scope.query<{ 'QUERY PLAN': unknown }>(statement.text, statement.values)
  return explainOutput.parse(rows[0]?.['QUERY PLAN'])[0].Plan['Plan Rows']
}

/** The planner estimates `planned` counts, and `estimated` counts past `maxRows`. */
async function countTotal(scope: Scope, plan: Plan, counted: number | null): Promise<number | undefined> {
  if (plan.kind !== 'read') return counted ?? undefined
  if (plan.count === 'planned') return estimateRows(scope, estimateToSql(plan))
  const { maxRows } = plan.bounds
  const isCutOff = plan.count === 'estimated' && maxRows !== undefined && counted !== null && counted > maxRows
  return isCutOff ? Math.max(counted, await estimateRows(scope, estimateToSql(plan))) : (counted ?? undefined)
}

function checkRowCount({ media, preferences }: RestRequest, plan: Plan, rows: number): void {
  if (media.shape === 'object' && rows !== 1 && !(plan.kind === 'call' && !plan.routine.returnsSet)) {
    throw restError('PGRST116', 'Cannot coerce the result to a single JSON object', {
      details: `The result contains ${rows} rows`,
    })
  }
  const isLimited = plan.kind === 'update' || plan.kind === 'delete' || plan.kind === 'call'
  const { handling, maxAffected } = preferences
  if (isLimited && handling === 'strict' && maxAffected !== undefined && rows > maxAffected) {
    throw restError('PGRST124', 'Query result exceeds max-affected preference constraint', {
      details: `The query affects ${rows} rows`,
    })
  }
}

/** Functions and policies read the request from these settings. */
export function requestSettings(
  request: RestRequest,
  headers: Headers,
  statementTimeoutMs: number,
): Record<string, string> {
  const { resource, schema, method, preferences } = request
  const visible = [...headers].filter(([name]) => name !== 'cookie')
  return {
    search_path: [schema, ...EXTRA_SEARCH_PATH].map(pg.escapeIdentifier).join(', '),
    statement_timeout: String(statementTimeoutMs),
    'request.method': method,
    'request.path': resource.kind === 'routine' ? `/rpc/${resource.name}` : `/${resource.name}`,
    'request.headers': JSON.stringify(Object.fromEntries(visible)),
    ...CLEARED_RESPONSE_SETTINGS,
    ...(preferences.timezone === undefined ? {} : { timezone: preferences.timezone }),
  }
}

/** No check follows the statement, so the transaction can end with it. */
const endsWithStatement = ({ media, preferences }: RestRequest, plan: Plan): boolean =>
  plan.kind === 'insert' && media.shape === 'array' && preferences.tx !== 'rollback'

function toResult(row: StatementRow | undefined, total: number | undefined): StatementResult {
  const { rows = 0, body = '', inserted, location, response_status, response_headers } = row ?? {}
  return {
    rows,
    total,
    body,
    inserted: inserted ?? undefined,
    location: location == null ? undefined : locationPairs.parse(JSON.parse(location)),
    responseSettings: parseResponseSettings(response_status, response_headers),
  }
}

/** Rolls back on any error. @throws RestError for an unexpected number of rows, or PostgreSQL's own error. */
export async function runPlan(
  database: Database,
  claims: Claims,
  request: RestRequest,
  plan: Plan,
  {
    settings,
    directDispatch,
  }: { settings: Readonly<Record<string, string>>; directDispatch?: DirectDispatch | undefined },
): Promise<StatementResult> {
  const statement = planToSql(plan)
  const readOnly = plan.kind === 'read' || (plan.kind === 'call' && isReadOnlyCall(request, plan))

  async function runInTransaction(scope: Scope): Promise<StatementResult> {
    const { rows } = await scope.preparedOnRepeat<StatementRow>(statement.text, statement.values)
    const [row] = rows
    checkRowCount(request, plan, row?.rows ?? 0)
    const result = toResult(row, await countTotal(scope, plan, row?.total ?? null))
    if (request.preferences.tx === 'rollback') {
      // Deferred constraints must fail here too, although the transaction never commits.
      await scope.query('set constraints all immediate')
      throw new RolledBack(result)
    }
    return result
  }

  const options: WriteOptions = {
    settings: plan.kind === 'insert' ? { ...settings, ...GENERIC_PLANS } : settings,
    groupFlush: !readOnly,
    endsWithRights: true,
    directDispatch: plan.kind === 'insert' ? directDispatch : undefined,
  }
  if (endsWithStatement(request, plan)) {
    const { rows } = await database.userStatement<StatementRow>(claims, statement, options)
    return toResult(rows[0], rows[0]?.total ?? undefined)
  }
  try {
    return await database.asUser(claims, runInTransaction, { ...options, readOnly })
  } catch (error) {
    if (error instanceof RolledBack) return error.result
    throw error
  }
}
