/** One request, one transaction: the plan's statement as the caller's role, and the checks that may still undo it. */
import pg from 'pg'
import { z } from 'zod'
import { type Claims, type Database, type DirectDispatch, GENERIC_PLANS, type Scope } from '#server/database/scope.ts'
import { restError } from './errors.ts'
import { type TablePlan } from './plan-table.ts'
import { type CallPlan, isReadOnlyCall } from './plan-call.ts'
import { type RestRequest } from './parse-request.ts'
import { CLEARED_RESPONSE_SETTINGS, parseResponseSettings, type ResponseSettings } from './response-settings.ts'
import { callToSql, estimateToSql, readToSql, type Statement, writeToSql } from './sql.ts'

export type Plan = TablePlan | CallPlan

export interface StatementResult {
  readonly rows: number
  /** Rows without limit and offset, where a count was asked for. */
  readonly total: number | undefined
  readonly body: string
  /** New rows of an upsert. */
  readonly inserted: number | undefined
  /** Name and condition of each key column of the one row written. */
  readonly location: readonly (readonly [name: string, condition: string])[] | undefined
  readonly responseSettings: ResponseSettings
}

/** Carries the answer out of a transaction that the caller wanted undone. */
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
  said_status?: string | null
  said_headers?: string | null
}

const locationPairs = z.array(z.tuple([z.string(), z.string()]))
/** Where PostgREST's default set-up on Supabase looks for functions beside the exposed schema. */
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

/** The planner is asked where counting was not wanted, or was cut off. */
async function countTotal(scope: Scope, plan: Plan, counted: number | null): Promise<number | undefined> {
  if (plan.kind !== 'read') return counted ?? undefined
  if (plan.count === 'planned') return estimateRows(scope, estimateToSql(plan))
  const isCutOff =
    plan.count === 'estimated' && plan.maxRows !== undefined && counted !== null && counted > plan.maxRows
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

/** The settings by which functions and policies see the request, and the limits of its transaction. */
export function requestSettings(request: RestRequest, headers: Headers, statementTimeoutMs: number): Record<string, string> {
  const { resource, schema, method, preferences } = request
  const shown = [...headers].filter(([name]) => name !== 'cookie')
  return {
    search_path: [schema, ...EXTRA_SEARCH_PATH].map(pg.escapeIdentifier).join(', '),
    statement_timeout: String(statementTimeoutMs),
    'request.method': method,
    'request.path': resource.kind === 'routine' ? `/rpc/${resource.name}` : `/${resource.name}`,
    'request.headers': JSON.stringify(Object.fromEntries(shown)),
    ...CLEARED_RESPONSE_SETTINGS,
    ...(preferences.timezone === undefined ? {} : { timezone: preferences.timezone }),
  }
}

/** Whether nothing but PostgreSQL can refuse what was asked: the number of rows decides nothing, nor does the caller. */
const endsWithStatement = ({ media, preferences }: RestRequest, plan: Plan): boolean =>
  plan.kind === 'insert' && media.shape === 'array' && preferences.tx !== 'rollback'

/**
 * Runs the plan; whatever is thrown, nothing was changed.
 * @throws RestError where the number of rows is not what was asked for, or PostgreSQL's own error.
 */
export async function runPlan(
  database: Database,
  claims: Claims,
  request: RestRequest,
  plan: Plan,
  { settings, handover }: { settings: Readonly<Record<string, string>>; handover?: Handover | undefined },
): Promise<StatementResult> {
  const statement = planToSql(plan)
  const readOnly = plan.kind === 'read' || (plan.kind === 'call' && isReadOnlyCall(request, plan))

  async function runInside(scope: Scope): Promise<StatementResult> {
    const { rows: found } = await scope.asked<StatementRow>(statement.text, statement.values)
    const { rows = 0, total = null, body = '', inserted, location, said_status, said_headers } = found[0] ?? {}
    checkRowCount(request, plan, rows)
    const result = {
      rows,
      body,
      total: await countTotal(scope, plan, total),
      inserted: inserted ?? undefined,
      location: location == null ? undefined : locationPairs.parse(JSON.parse(location)),
      said: parseResponseSettings(said_status, said_headers),
    }
    if (request.preferences.tx === 'rollback') {
      // What would have failed at the end is to fail here too.
      await scope.query('set constraints all immediate')
      throw new RolledBack(result)
    }
    return result
  }

  try {
    return await database.asUser(claims, runInside, {
      readOnly,
      settings: plan.kind === 'insert' ? { ...settings, ...GENERIC_PLANS } : settings,
      flushesAfter: !readOnly,
      endsAtOnce: endsWithStatement(request, plan),
      handover: plan.kind === 'insert' ? handover : undefined,
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.result
    throw error
  }
}
