/** The body is the text that PostgreSQL rendered. */
import { restError } from './errors.ts'
import { preferenceApplied, type Preferences } from './parse-prefer.ts'
import type { RestRequest } from './parse-request.ts'
import type { Plan } from './plan.ts'
import { applyResponseSettings } from './response-settings.ts'
import { contentRange } from './row-range.ts'
import type { StatementResult } from './run-plan.ts'

/** @throws RestError PGRST103 if the offset is past the last row. */
function pageStatus(offset: bigint, { rows, total }: StatementResult): 200 | 206 {
  if (total === undefined) return 200
  if (offset > BigInt(total)) {
    throw restError('PGRST103', 'Requested range not satisfiable', {
      details: `An offset of ${offset} was requested, but there are only ${total} rows.`,
      headers: { 'Content-Range': `*/${total}` },
    })
  }
  return rows < total ? 206 : 200
}

function locationHeader(name: string, pairs: NonNullable<StatementResult['location']>): string {
  const query = pairs.map(([key, condition]) => `${encodeURIComponent(key)}=${encodeURIComponent(condition)}`)
  return `/${encodeURIComponent(name)}?${query.join('&')}`
}

const withoutResolution = ({ resolution: _, ...others }: Preferences): Preferences => others

function respondToWrite(
  request: RestRequest,
  plan: Exclude<Plan, { kind: 'read' | 'call' }>,
  result: StatementResult,
): Response {
  const { preferences } = request
  const total = preferences.count === 'exact' || preferences.count === 'estimated' ? result.rows : undefined
  const headers = new Headers({
    'Content-Range': plan.kind === 'update' ? contentRange(0n, result.rows, total) : `*/${total ?? '*'}`,
  })
  const applied = preferenceApplied(
    plan.kind === 'insert' && !plan.conflict ? withoutResolution(preferences) : preferences,
    plan.kind,
  )
  if (applied !== undefined) headers.set('Preference-Applied', applied)
  if (result.location) headers.set('Location', locationHeader(plan.relation.name, result.location))
  const returnsRows = plan.returns === 'rows'
  if (returnsRows) headers.set('Content-Type', plan.media.contentType)
  if (returnsRows && request.sendsProfile) headers.set('Content-Profile', request.schema)
  const isOnlyMerged = plan.kind === 'insert' && plan.conflict?.isMerged === true && (result.inserted ?? 0) <= 0
  const status = plan.kind === 'insert' ? (isOnlyMerged ? 200 : 201) : returnsRows ? 200 : 204
  return new Response(returnsRows ? result.body : null, { status, headers })
}

export const respond = (request: RestRequest, plan: Plan, result: StatementResult): Response =>
  applyResponseSettings(respondToRead(request, plan, result), result.responseSettings)

function respondToRead(request: RestRequest, plan: Plan, result: StatementResult): Response {
  if (plan.kind !== 'read' && plan.kind !== 'call') return respondToWrite(request, plan, result)
  const { offset } = plan.range
  const status = pageStatus(offset, result)
  const headers = new Headers({ 'Content-Range': contentRange(offset, result.rows, result.total) })
  const applied = preferenceApplied(request.preferences, plan.kind)
  if (applied !== undefined) headers.set('Preference-Applied', applied)
  if (plan.kind === 'call' && plan.routine.returns === 'void') return new Response(null, { status: 204, headers })
  headers.set('Content-Type', plan.media.contentType)
  if (request.sendsProfile) headers.set('Content-Profile', request.schema)
  return new Response(plan.isHead ? null : result.body, { status, headers })
}
