/** Identifiers come from the catalogue and are quoted; values are parameters. */
import type { ReadPlan, ResultPlan } from './plan.ts'
import { RESPONSE_SETTINGS_COLUMNS } from './response-settings.ts'
import { matchingRowsToSql, selectToSql } from './sql-select.ts'
import {
  bodyToSql,
  buildStatement,
  PAGE,
  qualified,
  type Statement,
  type StatementBuilder,
  TARGET,
} from './sql-statement.ts'

export function totalToSql(plan: ResultPlan, from: string, builder: StatementBuilder): string {
  if (plan.count === undefined || plan.count === 'planned') return 'null::bigint'
  const { maxRows } = plan.bounds
  const rows = matchingRowsToSql(plan, { from, row: TARGET }, builder)
  // An estimate suffices past the server's row limit.
  const cap = plan.count === 'estimated' && maxRows !== undefined ? `limit ${maxRows + 1}` : ''
  return `(select count(*) from (${rows} ${cap}) counted)`
}

/** All statements return one row: `rows`, `total`, `body`, response settings; writes also `inserted` and `location`. */
export const readToSql = (plan: ReadPlan): Statement =>
  buildStatement(plan, (builder) => {
    const from = qualified(plan.relation)
    const page = selectToSql(plan, { from, row: TARGET }, builder)
    const total = totalToSql(plan, from, builder)
    const { body, from: rows } = plan.isHead
      ? { body: `''`, from: `(${page}) ${PAGE}` }
      : bodyToSql({ media: plan.media, page, value: `${PAGE}.*`, maxRows: plan.bounds.maxRows }, builder)
    return `select count(*) as rows, ${total} as total, ${body} as body, ${RESPONSE_SETTINGS_COLUMNS} from ${rows}`
  })

export const estimateToSql = (plan: ReadPlan): Statement =>
  buildStatement(
    plan,
    (builder) =>
      `explain (format json) ${matchingRowsToSql(plan, { from: qualified(plan.relation), row: TARGET }, builder)}`,
  )
