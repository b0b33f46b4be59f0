import pg from 'pg'
import type { Bind } from '#server/database/filter.ts'
import type { WriteColumn } from './plan.ts'
import { BODY, quote } from './sql-statement.ts'

/** Each row is merged over the fallbacks, which are evaluated per row. */
export function payloadToSql(
  columns: readonly WriteColumn[],
  payload: { text: string; isArray: boolean },
  bind: Bind,
): string {
  const text = bind(payload.text)
  const fallbacks = columns.flatMap(({ column, fallback }) =>
    fallback === undefined ? [] : [`${pg.escapeLiteral(column.name)}, ${fallback}`],
  )
  if (columns.length === 0) {
    const rows = payload.isArray ? `json_array_elements(${text}::json)` : `(select ${text}::json)`
    return `${rows} as ${BODY}`
  }
  const shape = `${BODY} (${columns.map(({ column }) => `${quote(column.name)} ${column.type}`).join(', ')})`
  if (fallbacks.length === 0) return `json_to_record${payload.isArray ? 'set' : ''}(${text}::json) as ${shape}`
  const given = payload.isArray ? `jsonb_array_elements(${text}::jsonb)` : `(select ${text}::jsonb)`
  return `${given} as given (value), lateral jsonb_to_record(jsonb_build_object(${fallbacks.join(', ')}) || given.value) as ${shape}`
}
