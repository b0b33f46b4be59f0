import pg from 'pg'
import type { Bind } from '#server/database/filter.ts'
import type { Media } from './parse-request.ts'

export interface Statement {
  readonly text: string
  readonly values: readonly string[]
}

export const quote = (name: string) => pg.escapeIdentifier(name)
export const qualified = ({ schema, name }: { schema: string; name: string }) => `${quote(schema)}.${quote(name)}`

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

export function buildStatement(build: (builder: StatementBuilder) => string): Statement {
  const builder = createStatementBuilder()
  return { text: build(builder), values: builder.values }
}

// Internal aliases occur only before a dot or in `from`, so they never shadow a column.
export const TARGET = 'pgrst_target'
export const SOURCE = 'pgrst_source'
export const PAGE = 'pgrst_page'
export const BODY = 'pgrst_body'

/** `value` is SQL of one row; `takesFirst` renders one value instead of a list. */
export function bodyToSql(media: Media, value: string, takesFirst = media.shape === 'object'): string {
  const rows = media.stripsNulls ? `json_strip_nulls(json_agg(${value}))` : `json_agg(${value})`
  return takesFirst ? `coalesce((${rows} -> 0)::text, 'null')` : `coalesce(${rows}::text, '[]')`
}
