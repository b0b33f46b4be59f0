/**
 * Plans as SQL: one statement each. Identifiers come from the catalogue and are quoted, values are parameters, and the
 * JSON of the answer is put together by PostgreSQL.
 */
import pg from 'pg'
import { type Bind } from '#server/database/filter.ts'
import { type DeletePlan, type InsertPlan, type ReadPlan, type UpdatePlan, type WriteColumn } from './plan-table.ts'
import { type CallPlan, SCALAR } from './plan-call.ts'
import { type SelectPlan, type OutputColumn, type ResultPlan, type TypedOrder } from './plan-select.ts'
import { originColumnsOf } from './relationships.ts'
import { type Media } from './parse-request.ts'
import { RESPONSE_SETTINGS_COLUMNS } from './response-settings.ts'
import { createStatementBuilder, selectToSql, matchingRowsToSql, qualified, quote, whereToSql, type StatementBuilder } from './sql-select.ts'

export interface Statement {
  readonly text: string
  readonly values: readonly string[]
}

// Names of our own in the statement; each stands before a dot or in `from`, never where a column could be meant.
const TARGET = 'pgrst_target'
const SOURCE = 'pgrst_source'
const PAGE = 'pgrst_page'
const BODY = 'pgrst_body'

const ALL_ROWS: SelectPlan['range'] = { offset: 0n, limit: undefined }

function buildStatement(build: (words: StatementBuilder) => string): Statement {
  const words = createStatementBuilder()
  return { text: build(words), values: words.values }
}

/** The body as text. `value`: what one row is, as SQL. `takesFirst`: the answer is one value, not a list. */
function bodyToSql(media: Media, value: string, takesFirst = media.shape === 'object'): string {
  const rows = media.stripsNulls ? `json_strip_nulls(json_agg(${value}))` : `json_agg(${value})`
  return takesFirst ? `coalesce((${rows} -> 0)::text, 'null')` : `coalesce(${rows}::text, '[]')`
}

function totalToSql(reading: ResultPlan, from: string, words: StatementBuilder): string {
  if (reading.count === undefined || reading.count === 'planned') return 'null::bigint'
  const { maxRows } = reading
  const rows = matchingRowsToSql(reading, { from, row: TARGET }, words)
  // An estimate is good enough past what the server would give out at once: no need to count further.
  const cap = reading.count === 'estimated' && maxRows !== undefined ? `limit ${maxRows + 1}` : ''
  return `(select count(*) from (${rows} ${cap}) counted)`
}

/** Columns of every statement's one row: `rows`, `total`, `body`, and what functions said of the answer; writes have `inserted` and `location` too. */
export const readToSql = (plan: ReadPlan): Statement =>
  buildStatement((words) => {
    const from = qualified(plan.relation)
    const page = selectToSql(plan, { from, row: TARGET }, words)
    const total = totalToSql(plan, from, words)
    const body = plan.isHead ? `''` : bodyToSql(plan.media, `${PAGE}.*`)
    return `select count(*) as rows, ${total} as total, ${body} as body, ${RESPONSE_SETTINGS_COLUMNS} from (${page}) ${PAGE}`
  })

/** Asks the planner how many rows the filters would let through. */
export const estimateToSql = (plan: ReadPlan): Statement =>
  buildStatement(
    (words) => `explain (format json) ${matchingRowsToSql(plan, { from: qualified(plan.relation), row: TARGET }, words)}`,
  )

/**
 * The rows of a body as a relation. With fallbacks, each row is laid over the defaults first: what it leaves out keeps
 * the default, evaluated anew for each row.
 */
function payloadToSql(
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

/** What a write hands on: the columns that the answer shows, or merely that there was a row. */
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

// Counts rows that are new in an upsert: one up for each row tried, one down for each that was there already.
const INSERTED_COUNT = `coalesce(nullif(current_setting('pgrst.inserted', true), ''), '0')::int`
const countInserted = (step: '+' | '-') =>
  `set_config('pgrst.inserted', (${INSERTED_COUNT} ${step} 1)::text, true) is not null`

function conflictToSql({ columns, conflict }: InsertPlan): string {
  if (!conflict) return ''
  const target = `on conflict (${conflict.columns.map(quote).join(', ')})`
  // The key is equal already: setting it would only ask for a right that a caller need not have.
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

/** `id=eq.5` for each key column of the one row written. */
function locationToSql({ relation }: InsertPlan | UpdatePlan | DeletePlan): string {
  const pairs = relation.primaryKey.map(
    (name) => `array[${pg.escapeLiteral(name)}, coalesce('eq.' || max(${PAGE}.${quote(name)}::text), 'is.null')]`,
  )
  return `case when count(*) = 1 then json_build_array(${pairs.map((pair) => `to_json(${pair})`).join(', ')})::text end`
}

/** The write, its count, what it shows and its checks all see the same rows. */
export const writeToSql = (plan: InsertPlan | UpdatePlan | DeletePlan): Statement =>
  buildStatement((words) => {
    const { bind } = words
    const write =
      plan.kind === 'insert'
        ? insertToSql(plan, bind)
        : plan.kind === 'update'
          ? updateToSql(plan, bind)
          : deleteToSql(plan, bind)
    const isShown = plan.returns === 'rows'
    const page = isShown
      ? selectToSql({ ...plan, where: [], range: ALL_ROWS }, { from: SOURCE, row: TARGET }, words)
      : `select * from ${SOURCE}`
    const inserted = plan.kind === 'insert' && plan.conflict?.isMerged ? INSERTED_COUNT : 'null::int'
    const location = plan.returns === 'key' && plan.relation.primaryKey.length > 0 ? locationToSql(plan) : 'null::text'
    return `with ${SOURCE} as (${write}) select count(*) as rows, null::bigint as total, ${
      isShown ? bodyToSql(plan.media, `${PAGE}.*`) : `''`
    } as body, ${inserted} as inserted, ${location} as location, ${RESPONSE_SETTINGS_COLUMNS} from (${page}) ${PAGE}`
  })

function argumentsToSql({ args }: CallPlan, bind: Bind): { from: string; list: string } {
  if (args.kind === 'body') return { from: '', list: `${bind(args.text)}::${args.type}` }
  if (args.kind === 'texts') {
    const list = args.values.map(({ parameter, texts }) => {
      const name = `${parameter.isVariadic ? 'variadic ' : ''}${quote(parameter.name)} => `
      const values = parameter.isVariadic ? `array[${texts.map(bind).join(', ')}]` : bind(texts[0] ?? '')
      return `${name}${values}::${parameter.type}`
    })
    return { from: '', list: list.join(', ') }
  }
  if (args.parameters.length === 0) return { from: '', list: '' }
  const list = args.parameters.map(
    ({ name, isVariadic }) => `${isVariadic ? 'variadic ' : ''}${quote(name)} => ${BODY}.${quote(name)}`,
  )
  const columns = args.parameters.map(({ name, type }) => ({
    column: { name, type, fallback: null },
    fallback: undefined,
  }))
  return { from: `${payloadToSql(columns, { ...args, isArray: false }, bind)}, lateral`, list: list.join(', ') }
}

export const callToSql = (plan: CallPlan): Statement =>
  buildStatement((words) => {
    const { routine, media } = plan
    const { from, list } = argumentsToSql(plan, words.bind)
    const call = `${qualified(routine)}(${list})`
    const isRow = routine.returns === 'row'
    const rows = isRow
      ? `select ${['*', ...plan.computed.map(quote)].map((name) => `called.${name}`).join(', ')} from ${from} ${call} as called`
      : `select called.${SCALAR} from ${from} (select ${call} as ${SCALAR}) as called`
    const shown: SelectPlan = isRow ? plan : { ...plan, output: [{ kind: 'all' }] }
    const page = selectToSql(shown, { from: SOURCE, row: TARGET }, words)
    const total = totalToSql(plan, SOURCE, words)
    const value = isRow ? `${PAGE}.*` : `${PAGE}.${SCALAR}`
    const isBare = plan.isHead || routine.returns === 'void'
    const body = isBare ? `''` : bodyToSql(media, value, media.shape === 'object' || !routine.returnsSet)
    // Materialized: a function runs once, whether its value is looked at twice or not at all.
    return `with ${SOURCE} as materialized (${rows}) select count(*) as rows, ${total} as total, ${body} as body, ${RESPONSE_SETTINGS_COLUMNS} from (${page}) ${PAGE}`
  })
