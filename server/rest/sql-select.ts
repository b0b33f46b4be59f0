/**
 * Rows and what is embedded in them as SQL. Each embedded relation is one lateral join, which yields a value for each
 * outer row: JSON, or merely whether there is one. Policies hold for its rows as for any others.
 */
import pg from 'pg'
import { type Bind, fieldToSql, filterToSql } from '#server/database/filter.ts'
import { type EmbedPlan, isEmbed, type SelectPlan, type OutputColumn, type TypedLogicTree, type TypedOrder } from './plan-select.ts'
import { isToOne } from './relationships.ts'

export const quote = (name: string) => pg.escapeIdentifier(name)
export const qualified = ({ schema, name }: { schema: string; name: string }) => `${quote(schema)}.${quote(name)}`

/** What one statement is made with: its parameters, and names for the relations in it. */
export interface StatementBuilder {
  readonly bind: Bind
  readonly values: readonly string[]
  newName(): string
}

export function createStatementBuilder(): StatementBuilder {
  const values: string[] = []
  let names = 0
  return {
    values,
    bind: (value) => `$${values.push(value)}`,
    newName: () => `pgrst_${(names += 1)}`,
  }
}

/** Of an embedded relation: null where there is no row. */
const EMBED_VALUE = 'pgrst_value'
const EMBED_ROW = 'pgrst_row'
const orderName = (index: number) => `pgrst_order_${index}`

/** Under which name each embedded relation of a level is joined. */
type JoinNames = ReadonlyMap<EmbedPlan, string>
const NO_JOINS: JoinNames = new Map()

const joinNameOf = (joined: JoinNames, embed: EmbedPlan): string => {
  const name = joined.get(embed)
  if (name === undefined) throw new Error(`${embed.name} is not joined`)
  return name
}

function logicTreeToSql(logic: TypedLogicTree, row: string, bind: Bind, joined: JoinNames): string {
  if (logic.kind === 'filter') return filterToSql(logic.filter, logic.type, bind, row)
  if (logic.kind === 'presence') {
    return `${joinNameOf(joined, logic.embed)}.${EMBED_VALUE} is ${logic.isPresent ? 'not ' : ''}null`
  }
  const parts = logic.parts.map((part) => `(${logicTreeToSql(part, row, bind, joined)})`).join(` ${logic.kind} `)
  return logic.negated ? `not (${parts})` : parts
}

/** @param joins conditions that are SQL already. */
export function whereToSql(
  where: readonly TypedLogicTree[],
  row: string,
  bind: Bind,
  { joined = NO_JOINS, joins = [] }: { joined?: JoinNames; joins?: readonly string[] } = {},
): string {
  const conditions = [...joins, ...where.map((logic) => `(${logicTreeToSql(logic, row, bind, joined)})`)]
  return conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''
}

/** Names of the columns that come out, in order. */
const outputColumnNames = (output: readonly OutputColumn[], all: Iterable<string>): string[] =>
  output.flatMap((item) => {
    if (item.kind === 'all') return [...all]
    if (item.kind === 'field') return [item.name]
    if (item.isSpread) return outputColumnNames(item.output, item.target.columns.keys())
    return item.isHidden ? [] : [item.name]
  })

const embedColumnNames = ({ output, target }: EmbedPlan) => outputColumnNames(output, target.columns.keys())

/** Empty where nothing is shown. */
function outputToSql(output: readonly OutputColumn[], row: string, bind: Bind, joined: JoinNames): string[] {
  return output.flatMap((item) => {
    if (item.kind === 'all') return [`${row}.*`]
    if (item.kind === 'embedded') {
      const name = joinNameOf(joined, item)
      if (item.isSpread) return embedColumnNames(item).map((column) => `${name}.${quote(column)}`)
      if (item.isHidden) return []
      const value = `${name}.${EMBED_VALUE}`
      return [`${isToOne(item.relationship) ? value : `coalesce(${value}, '[]')`} as ${quote(item.name)}`]
    }
    const field = fieldToSql(item.field, item.field.type, bind, row)
    return [`${item.castSql === undefined ? field : `cast(${field} as ${item.castSql})`} as ${quote(item.name)}`]
  })
}

function orderToSql(order: readonly TypedOrder[], row: string, bind: Bind, joined: JoinNames): string {
  if (order.length === 0) return ''
  const terms = order.map(({ embed, field, direction, nulls }, index) => {
    const key = embed ? `${joinNameOf(joined, embed)}.${orderName(index)}` : fieldToSql(field, field.type, bind, row)
    return `${key}${direction ? ` ${direction}` : ''}${nulls ? ` nulls ${nulls}` : ''}`
  })
  return `order by ${terms.join(', ')}`
}

function rangeToSql({ limit, offset }: SelectPlan['range'], bind: Bind): string {
  const parts = [
    limit === undefined ? '' : `limit ${bind(limit.toString())}::bigint`,
    offset === 0n ? '' : `offset ${bind(offset.toString())}::bigint`,
  ]
  return parts.join(' ')
}

/** Tables beside the embedded one that are read for it, and how its rows belong to an outer row. */
function relationToSql({ relationship, target }: EmbedPlan, outer: string, row: string, words: StatementBuilder) {
  if (relationship.kind === 'computed') {
    // The outer row may be one of a write or of a call, which PostgreSQL does not know to be of the table's type.
    const columns = relationship.originColumns.map((column) => `${outer}.${quote(column)}`)
    const outerRow = `row(${columns.join(', ')})::${qualified(relationship.origin)}`
    return { from: `${qualified(relationship.routine)}(${outerRow}) as ${row}`, beside: '', joins: [] }
  }
  const from = `${qualified(target)} as ${row}`
  const equal = (left: string, right: string) => (pair: readonly [string, string]) =>
    `${left}.${quote(pair[0])} = ${right}.${quote(pair[1])}`
  if (relationship.kind !== 'many-to-many') {
    return { from, beside: '', joins: relationship.columns.map(equal(outer, row)) }
  }
  const { junction } = relationship
  const between = words.newName()
  return {
    from,
    beside: `, ${qualified(junction)} as ${between}`,
    joins: [...junction.near.map(equal(outer, between)), ...junction.far.map(equal(between, row))],
  }
}

/** @param order of the outer rows, of which some terms may be columns of this relation. */
function embedToSql(embed: EmbedPlan, name: string, outer: string, order: readonly TypedOrder[], words: StatementBuilder): string {
  const row = words.newName()
  const { from, beside, joins } = relationToSql(embed, outer, row, words)
  const { output, rest } = selectParts(embed, row, words, { beside, joins })
  const shows = !embed.isSpread && !embed.isHidden
  let subquery: string
  if (isToOne(embed.relationship)) {
    const value = shows
      ? `(select row_to_json(${EMBED_ROW}) from (select ${output.join(', ')}) ${EMBED_ROW}) as ${EMBED_VALUE}`
      : `true as ${EMBED_VALUE}`
    const keys = order.flatMap((term, index) =>
      term.embed === embed
        ? [`${fieldToSql(term.field, term.field.type, words.bind, row)} as ${orderName(index)}`]
        : [],
    )
    subquery = `select ${[value, ...(embed.isSpread ? output : []), ...keys].join(', ')} from ${from}${rest}`
  } else {
    const value = shows ? `json_agg(${EMBED_ROW}.*)` : 'nullif(count(*), 0)'
    const lists = embed.isSpread
      ? embedColumnNames(embed).map((column) => `coalesce(json_agg(${EMBED_ROW}.${quote(column)}), '[]') as ${quote(column)}`)
      : []
    const rows = `select ${output.join(', ') || '1'} from ${from}${rest}`
    subquery = `select ${[`${value} as ${EMBED_VALUE}`, ...lists].join(', ')} from (${rows}) as ${EMBED_ROW}`
  }
  return embed.isInner
    ? `join lateral (${subquery}) as ${name} on ${name}.${EMBED_VALUE} is not null`
    : `left join lateral (${subquery}) as ${name} on true`
}

function joinsToSql(embeds: readonly EmbedPlan[], row: string, order: readonly TypedOrder[], words: StatementBuilder) {
  const joined = new Map(embeds.map((embed) => [embed, words.newName()]))
  const sql = [...joined].map(([embed, name]) => ` ${embedToSql(embed, name, row, order, words)}`).join('')
  return { joined, sql }
}

/** The select list of a level, and what stands behind its `from`. */
function selectParts(
  level: SelectPlan,
  row: string,
  words: StatementBuilder,
  { beside = '', joins = [] }: { beside?: string; joins?: readonly string[] } = {},
) {
  const embedded = joinsToSql(level.output.filter(isEmbed), row, level.order, words)
  const { joined } = embedded
  const rest = [
    embedded.sql + beside,
    whereToSql(level.where, row, words.bind, { joined, joins }),
    orderToSql(level.order, row, words.bind, joined),
    rangeToSql(level.range, words.bind),
  ]
  return { output: outputToSql(level.output, row, words.bind, joined), rest: rest.join(' ') }
}

interface FromItem {
  /** A relation as SQL. */
  readonly from: string
  /** Name of its rows in the statement. */
  readonly row: string
}

/** The rows of a level, with what is embedded in them. */
export function selectToSql(level: SelectPlan, { from, row }: FromItem, words: StatementBuilder): string {
  const { output, rest } = selectParts(level, row, words)
  return `select ${output.join(', ')} from ${from} as ${row}${rest}`
}

const testsPresence = (logic: TypedLogicTree, embed: EmbedPlan): boolean =>
  logic.kind === 'presence'
    ? logic.embed === embed
    : logic.kind !== 'filter' && logic.parts.some((part) => testsPresence(part, embed))

/** Rows that fulfil the filters, without the page's limits; only what decides that is joined. */
export function matchingRowsToSql({ output, where }: SelectPlan, { from, row }: FromItem, words: StatementBuilder): string {
  const deciding = output
    .filter(isEmbed)
    .filter((embed) => embed.isInner || where.some((logic) => testsPresence(logic, embed)))
  const { joined, sql } = joinsToSql(deciding, row, [], words)
  return `select 1 from ${from} as ${row}${sql} ${whereToSql(where, row, words.bind, { joined })}`
}
