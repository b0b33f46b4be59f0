import pg from 'pg'
import type { Bind } from '#server/database/filter.ts'
import { type AnswerBounds, boundedToSql } from './answer-bounds.ts'
import type { Media } from './parse-request.ts'
import { isEmbed, type OutputColumn, type ResultPlan } from './plan.ts'
import { isToOne } from './relationships.ts'

export interface Statement {
  readonly text: string
  readonly values: readonly string[]
}

export const quote = (name: string) => pg.escapeIdentifier(name)
export const qualified = ({ schema, name }: { schema: string; name: string }) => `${quote(schema)}.${quote(name)}`

/** Full lists of one row that may be in PostgreSQL's memory together; more lists share the room. */
const FULL_LISTS = 4

const countLists = (output: readonly OutputColumn[]): number =>
  output
    .filter(isEmbed)
    .reduce((sum, embed) => sum + (isToOne(embed.relationship) ? 0 : 1) + countLists(embed.output), 0)

/** Bytes that one embedded list may hold. */
const maxListBytes = ({ maxBytes }: AnswerBounds, output: readonly OutputColumn[]): number =>
  Math.floor(maxBytes * Math.min(1, FULL_LISTS / Math.max(1, countLists(output))))

type Bounded = Pick<ResultPlan, 'bounds' | 'output'>

export interface StatementBuilder {
  readonly bind: Bind
  readonly values: readonly string[]
  newName(): string
  /** Bytes that one embedded list may hold. */
  readonly maxListBytes: number
  readonly bounds: AnswerBounds
}

export function createStatementBuilder({ bounds, output }: Bounded): StatementBuilder {
  const values: string[] = []
  let names = 0
  return {
    bounds,
    maxListBytes: maxListBytes(bounds, output),
    values,
    bind: (value) => `$${values.push(value)}`,
    newName: () => `pgrst_${(names += 1)}`,
  }
}

export function buildStatement(plan: Bounded, build: (builder: StatementBuilder) => string): Statement {
  const builder = createStatementBuilder(plan)
  return { text: build(builder), values: builder.values }
}

// Internal aliases occur only before a dot or in `from`, so they never shadow a column.
export const TARGET = 'pgrst_target'
export const SOURCE = 'pgrst_source'
export const PAGE = 'pgrst_page'
export const BODY = 'pgrst_body'

/** Row of the page as JSON. */
const ROW_JSON = 'pgrst_json'
/** Bytes of a value in memory, without a copy. */
export const bytesToSql = (value: string): string => `pg_column_size(${value})`

interface BodySource {
  readonly media: Media
  /** SQL of the rows, named `PAGE`. */
  readonly page: string
  /** SQL of one row of the page. */
  readonly value: string
  /** Renders one value instead of a list. */
  readonly takesFirst?: boolean
  readonly maxRows: number | undefined
}

/** The body, and what to select it from. Each row is made once, and counted before it is added. */
export function bodyToSql(
  { media, page, value, takesFirst = media.shape === 'object', maxRows }: BodySource,
  { bounds: { maxBytes } }: StatementBuilder,
): { body: string; from: string } {
  const json = media.stripsNulls ? `json_strip_nulls(to_json(${value}))` : `to_json(${value})`
  const row = `${PAGE}.${ROW_JSON}`
  const rows = boundedToSql({ sql: `json_agg(${row})`, bytes: bytesToSql(row), maxBytes, maxRows })
  return {
    body: takesFirst ? `coalesce((${rows} -> 0)::text, 'null')` : `coalesce((${rows})::text, '[]')`,
    // `offset 0` keeps the planner from rendering each row once for every use.
    from: `(select ${json} as ${ROW_JSON} from (${page}) ${PAGE} offset 0) ${PAGE}`,
  }
}
