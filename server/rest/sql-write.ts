import pg from 'pg'
import type { Bind } from '#server/database/filter.ts'
import type { DeletePlan, InsertPlan, OutputColumn, SelectPlan, TypedOrder, UpdatePlan } from './plan.ts'
import { originColumnsOf } from './relationships.ts'
import { RESPONSE_SETTINGS_COLUMNS } from './response-settings.ts'
import { payloadToSql } from './sql-payload.ts'
import { selectToSql, whereToSql } from './sql-select.ts'
import {
  BODY,
  bodyToSql,
  buildStatement,
  PAGE,
  qualified,
  quote,
  SOURCE,
  type Statement,
  TARGET,
} from './sql-statement.ts'

const ALL_ROWS: SelectPlan['range'] = { offset: 0n, limit: undefined }

function returningToSql({ returns, output, order, relation }: InsertPlan | UpdatePlan | DeletePlan): string {
  if (returns === 'none') return '1 as written'
  if (returns === 'key') {
    return relation.primaryKey.map((name) => `${TARGET}.${quote(name)}`).join(', ') || '1 as written'
  }
  if (output.some(({ kind }) => kind === 'all')) {
    const computed = [...relation.computed.keys()].filter((name) => requiredColumns(output, order).has(name))
    return [`${TARGET}.*`, ...computed.map((name) => `${TARGET}.${quote(name)}`)].join(', ')
  }
  return [...requiredColumns(output, order)].map((name) => `${TARGET}.${quote(name)}`).join(', ') || '1 as written'
}

const requiredColumns = (output: readonly OutputColumn[], order: readonly TypedOrder[]): ReadonlySet<string> =>
  new Set([
    ...output.flatMap((item) => {
      if (item.kind === 'embedded') return originColumnsOf(item.relationship)
      return item.kind === 'field' ? [item.field.column] : []
    }),
    ...order.flatMap(({ embed, field }) => (embed ? [] : [field.column])),
  ])

// Counts new rows of an upsert: one is added for each row tried and subtracted for each conflict.
const INSERTED_COUNT = `coalesce(nullif(current_setting('pgrst.inserted', true), ''), '0')::int`
const countInserted = (step: '+' | '-') =>
  `set_config('pgrst.inserted', (${INSERTED_COUNT} ${step} 1)::text, true) is not null`

function conflictToSql({ columns, conflict }: InsertPlan): string {
  if (!conflict) return ''
  const target = `on conflict (${conflict.columns.map(quote).join(', ')})`
  // Updating the equal key would require a privilege that the caller may lack.
  const others = columns.filter(({ column }) => !conflict.columns.includes(column.name))
  const changed = others.length > 0 ? others : columns
  if (!conflict.isMerged || changed.length === 0) return `${target} do nothing`
  const assignments = changed.map(({ column }) => `${quote(column.name)} = excluded.${quote(column.name)}`)
  return `${target} do update set ${assignments.join(', ')} where ${countInserted('-')}`
}

function insertToSql(plan: InsertPlan, bind: Bind): string {
  const names = plan.columns.map(({ column }) => quote(column.name))
  const values = names.map((name) => `${BODY}.${name}`).join(', ')
  return [
    `insert into ${qualified(plan.relation)} as ${TARGET}${names.length > 0 ? ` (${names.join(', ')})` : ''}`,
    `select ${values} from ${payloadToSql(plan.columns, plan.payload, bind)}`,
    plan.conflict?.isMerged ? `where ${countInserted('+')}` : '',
    conflictToSql(plan),
    `returning ${returningToSql(plan)}`,
  ].join(' ')
}

function updateToSql(plan: UpdatePlan, bind: Bind): string {
  if (plan.columns.length === 0) {
    return `select ${returningToSql(plan)} from ${qualified(plan.relation)} as ${TARGET} where false`
  }
  const assignments = plan.columns.map(({ column }) => `${quote(column.name)} = ${BODY}.${quote(column.name)}`)
  return [
    `update ${qualified(plan.relation)} as ${TARGET} set ${assignments.join(', ')}`,
    `from ${payloadToSql(plan.columns, plan.payload, bind)}`,
    whereToSql(plan.where, TARGET, bind),
    `returning ${returningToSql(plan)}`,
  ].join(' ')
}

const deleteToSql = (plan: DeletePlan, bind: Bind): string =>
  [
    `delete from ${qualified(plan.relation)} as ${TARGET}`,
    whereToSql(plan.where, TARGET, bind),
    `returning ${returningToSql(plan)}`,
  ].join(' ')

/** For example `id=eq.5` for each key column. */
function locationToSql({ relation }: InsertPlan | UpdatePlan | DeletePlan): string {
  const pairs = relation.primaryKey.map(
    (name) => `array[${pg.escapeLiteral(name)}, coalesce('eq.' || max(${PAGE}.${quote(name)}::text), 'is.null')]`,
  )
  return `case when count(*) = 1 then json_build_array(${pairs.map((pair) => `to_json(${pair})`).join(', ')})::text end`
}

/** One statement for the write, its count and its body, so that all see equal rows. */
export const writeToSql = (plan: InsertPlan | UpdatePlan | DeletePlan): Statement =>
  buildStatement(plan, (builder) => {
    const { bind } = builder
    const write =
      plan.kind === 'insert'
        ? insertToSql(plan, bind)
        : plan.kind === 'update'
          ? updateToSql(plan, bind)
          : deleteToSql(plan, bind)
    const returnsRows = plan.returns === 'rows'
    const page = returnsRows
      ? selectToSql({ ...plan, where: [], range: ALL_ROWS }, { from: SOURCE, row: TARGET }, builder)
      : `select * from ${SOURCE}`
    const inserted = plan.kind === 'insert' && plan.conflict?.isMerged ? INSERTED_COUNT : 'null::int'
    const location = plan.returns === 'key' && plan.relation.primaryKey.length > 0 ? locationToSql(plan) : 'null::text'
    // All written rows are returned, however many.
    const { body, from } = returnsRows
      ? bodyToSql({ media: plan.media, page, value: `${PAGE}.*`, maxRows: undefined }, builder)
      : { body: `''`, from: `(${page}) ${PAGE}` }
    return `with ${SOURCE} as (${write}) select count(*) as rows, null::bigint as total, ${body} as body, ${inserted} as inserted, ${location} as location, ${RESPONSE_SETTINGS_COLUMNS} from ${from}`
  })
