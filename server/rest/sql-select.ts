/** Each embedded relation is one lateral join that yields JSON. Row-level policies apply to embedded rows too. */
import { type Bind, fieldToSql, filterToSql } from '#server/database/filter.ts'
import { boundedToSql } from './answer-bounds.ts'
import {
  type EmbedPlan,
  isEmbed,
  isShown,
  type SelectPlan,
  type OutputColumn,
  type TypedLogicTree,
  type TypedOrder,
} from './plan.ts'
import { isToOne } from './relationships.ts'
import { bytesToSql, qualified, quote, type StatementBuilder } from './sql-statement.ts'

/** Null if the embedded relation has no row. */
const EMBED_VALUE = 'pgrst_value'
const EMBED_ROW = 'pgrst_row'
const orderName = (index: number) => `pgrst_order_${index}`

type JoinNames = ReadonlyMap<EmbedPlan, string>
const NO_JOINS: JoinNames = new Map()

const joinNameOf = (joinNames: JoinNames, embed: EmbedPlan): string => {
  const name = joinNames.get(embed)
  if (name === undefined) throw new Error(`${embed.name} is not joined`)
  return name
}

function logicTreeToSql(logic: TypedLogicTree, row: string, bind: Bind, joinNames: JoinNames): string {
  if (logic.kind === 'filter') return filterToSql(logic.filter, logic.type, bind, row)
  if (logic.kind === 'presence') {
    return `${joinNameOf(joinNames, logic.embed)}.${EMBED_VALUE} is ${logic.isPresent ? 'not ' : ''}null`
  }
  const parts = logic.parts.map((part) => `(${logicTreeToSql(part, row, bind, joinNames)})`).join(` ${logic.kind} `)
  return logic.negated ? `not (${parts})` : parts
}

export function whereToSql(
  where: readonly TypedLogicTree[],
  row: string,
  bind: Bind,
  { joinNames = NO_JOINS, joins = [] }: { joinNames?: JoinNames; joins?: readonly string[] } = {},
): string {
  const conditions = [...joins, ...where.map((logic) => `(${logicTreeToSql(logic, row, bind, joinNames)})`)]
  return conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''
}

const outputColumnNames = (output: readonly OutputColumn[], all: Iterable<string>): string[] =>
  output.flatMap((item) => {
    if (item.kind === 'all') return [...all]
    if (item.kind === 'field') return [item.name]
    if (item.isSpread) return outputColumnNames(item.output, item.target.columns.keys())
    return item.isHidden ? [] : [item.name]
  })

const embedColumnNames = ({ output, target }: EmbedPlan) => outputColumnNames(output, target.columns.keys())

function outputToSql(output: readonly OutputColumn[], row: string, bind: Bind, joinNames: JoinNames): string[] {
  return output.flatMap((item) => {
    if (item.kind === 'all') return [`${row}.*`]
    if (item.kind === 'embedded') {
      const name = joinNameOf(joinNames, item)
      if (item.isSpread) return embedColumnNames(item).map((column) => `${name}.${quote(column)}`)
      if (item.isHidden) return []
      const value = `${name}.${EMBED_VALUE}`
      return [`${isToOne(item.relationship) ? value : `coalesce(${value}, '[]')`} as ${quote(item.name)}`]
    }
    const field = fieldToSql(item.field, item.field.type, bind, row)
    return [`${item.castSql === undefined ? field : `cast(${field} as ${item.castSql})`} as ${quote(item.name)}`]
  })
}

/**
 * A constant at the end makes rows of at least two columns, since PostgreSQL 18 counts no memory for the values of one column
 * that it sorts, and would hold any number of them instead of writing them to the disk.
 */
function orderToSql(order: readonly TypedOrder[], row: string, bind: Bind, joinNames: JoinNames): string {
  if (order.length === 0) return ''
  const terms = order.map(({ embed, field, direction, nulls }, index) => {
    const key = embed ? `${joinNameOf(joinNames, embed)}.${orderName(index)}` : fieldToSql(field, field.type, bind, row)
    return `${key}${direction ? ` ${direction}` : ''}${nulls ? ` nulls ${nulls}` : ''}`
  })
  return `order by ${terms.join(', ')}, null::integer`
}

function rangeToSql({ limit, offset }: SelectPlan['range'], { bind, bounds }: StatementBuilder): string {
  const { maxRows } = bounds
  const parts = [
    // The server's own limit is a constant, which the planner sees in every plan.
    limit === undefined
      ? ''
      : `limit ${limit === BigInt(maxRows ?? -1) ? maxRows : `${bind(limit.toString())}::bigint`}`,
    offset === 0n ? '' : `offset ${bind(offset.toString())}::bigint`,
  ]
  return parts.join(' ')
}

function relationToSql({ relationship, target }: EmbedPlan, outer: string, row: string, builder: StatementBuilder) {
  if (relationship.kind === 'computed') {
    // Cast, because the row of a write or a call does not have the table's row type.
    const columns = relationship.originColumns.map((column) => `${outer}.${quote(column)}`)
    const outerRow = `row(${columns.join(', ')})::${qualified(relationship.origin)}`
    return { from: `${qualified(relationship.routine)}(${outerRow}) as ${row}`, otherTables: '', joins: [] }
  }
  const from = `${qualified(target)} as ${row}`
  const equal = (left: string, right: string) => (pair: readonly [string, string]) =>
    `${left}.${quote(pair[0])} = ${right}.${quote(pair[1])}`
  if (relationship.kind !== 'many-to-many') {
    return { from, otherTables: '', joins: relationship.columns.map(equal(outer, row)) }
  }
  const { junction } = relationship
  const between = builder.newName()
  return {
    from,
    otherTables: `, ${qualified(junction)} as ${between}`,
    joins: [...junction.near.map(equal(outer, between)), ...junction.far.map(equal(between, row))],
  }
}

/** All rows of a to-many relation as one JSON list, or, spread, one list for each column. */
function listToSql(embed: EmbedPlan, rows: string, { bounds: { maxRows }, maxListBytes: maxBytes }: StatementBuilder) {
  const counted = `nullif(count(*), 0) as ${EMBED_VALUE}`
  const names = isShown(embed) ? [EMBED_VALUE] : embed.isSpread ? embedColumnNames(embed).map(quote) : []
  if (names.length === 0) return `select ${counted} from (${rows}) as ${EMBED_ROW}`
  const values = names.map((name) => `to_json(${EMBED_ROW}.${isShown(embed) ? '*' : name}) as ${name}`)
  const bytes = names.map((name) => `coalesce(${bytesToSql(`${EMBED_ROW}.${name}`)}, 0)`).join(' + ')
  const lists = names.map((name) => boundedToSql({ sql: `json_agg(${EMBED_ROW}.${name})`, bytes, maxBytes, maxRows }))
  const columns = isShown(embed)
    ? lists.map((list) => `${list} as ${EMBED_VALUE}`)
    : [counted, ...lists.map((list, index) => `coalesce(${list}, '[]') as ${names[index]}`)]
  // `offset 0` keeps the planner from rendering each row once for every use.
  return `select ${columns.join(', ')} from (select ${values.join(', ')} from (${rows}) as ${EMBED_ROW} offset 0) as ${EMBED_ROW}`
}

/** `order` sorts the outer rows; its terms can be columns of this relation. */
function embedToSql(
  embed: EmbedPlan,
  name: string,
  outer: string,
  order: readonly TypedOrder[],
  builder: StatementBuilder,
): string {
  const row = builder.newName()
  const { from, otherTables, joins } = relationToSql(embed, outer, row, builder)
  const { output, tail } = selectParts(embed, row, builder, { otherTables, joins })
  let subquery: string
  if (isToOne(embed.relationship)) {
    const value = isShown(embed)
      ? `(select row_to_json(${EMBED_ROW}) from (select ${output.join(', ')}) ${EMBED_ROW}) as ${EMBED_VALUE}`
      : `true as ${EMBED_VALUE}`
    const keys = order.flatMap((term, index) =>
      term.embed === embed
        ? [`${fieldToSql(term.field, term.field.type, builder.bind, row)} as ${orderName(index)}`]
        : [],
    )
    subquery = `select ${[value, ...(embed.isSpread ? output : []), ...keys].join(', ')} from ${from}${tail}`
  } else {
    subquery = listToSql(embed, `select ${output.join(', ') || '1'} from ${from}${tail}`, builder)
  }
  return embed.isInner
    ? `join lateral (${subquery}) as ${name} on ${name}.${EMBED_VALUE} is not null`
    : `left join lateral (${subquery}) as ${name} on true`
}

function joinsToSql(
  embeds: readonly EmbedPlan[],
  row: string,
  order: readonly TypedOrder[],
  builder: StatementBuilder,
) {
  const joinNames = new Map(embeds.map((embed) => [embed, builder.newName()]))
  const sql = [...joinNames].map(([embed, name]) => ` ${embedToSql(embed, name, row, order, builder)}`).join('')
  return { joinNames, sql }
}

function selectParts(
  level: SelectPlan,
  row: string,
  builder: StatementBuilder,
  { otherTables = '', joins = [] }: { otherTables?: string; joins?: readonly string[] } = {},
) {
  const embedded = joinsToSql(level.output.filter(isEmbed), row, level.order, builder)
  const { joinNames } = embedded
  const tail = [
    embedded.sql + otherTables,
    whereToSql(level.where, row, builder.bind, { joinNames, joins }),
    orderToSql(level.order, row, builder.bind, joinNames),
    rangeToSql(level.range, builder),
  ]
  return { output: outputToSql(level.output, row, builder.bind, joinNames), tail: tail.join(' ') }
}

interface FromItem {
  readonly from: string
  readonly row: string
}

export function selectToSql(level: SelectPlan, { from, row }: FromItem, builder: StatementBuilder): string {
  const { output, tail } = selectParts(level, row, builder)
  return `select ${output.join(', ')} from ${from} as ${row}${tail}`
}

const testsPresence = (logic: TypedLogicTree, embed: EmbedPlan): boolean =>
  logic.kind === 'presence'
    ? logic.embed === embed
    : logic.kind !== 'filter' && logic.parts.some((part) => testsPresence(part, embed))

/** Ignores limit and offset; joins only the relations that filter. */
export function matchingRowsToSql(
  { output, where }: SelectPlan,
  { from, row }: FromItem,
  builder: StatementBuilder,
): string {
  const filtering = output
    .filter(isEmbed)
    .filter((embed) => embed.isInner || where.some((logic) => testsPresence(logic, embed)))
  const { joinNames, sql } = joinsToSql(filtering, row, [], builder)
  return `select 1 from ${from} as ${row}${sql} ${whereToSql(where, row, builder.bind, { joinNames })}`
}
