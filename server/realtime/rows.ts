import pg from 'pg'
import { z } from 'zod'
import type { ApiRole } from '#server/database/scope.ts'
import type { Column, PublishedTable } from './catalogue.ts'
import type { Change } from './outbox.ts'
import { createRowParser, type ParseRow } from './parse-row.ts'

export interface VisibleRow {
  /** As PostgreSQL renders it. */
  readonly json: string
  /** Values for filters; numbers that JavaScript would round are text. */
  readonly values: Readonly<Record<string, unknown>>
}

const ROUNDED_FORMATS = new Set(['bigint', 'numeric'])

export const canReadKey = (table: PublishedTable, role: ApiRole): boolean =>
  table.key.length > 0 && table.key.every(({ name }) => table.readable[role].has(name))

function readableColumns(table: PublishedTable, role: ApiRole) {
  return table.columns.filter(({ name }) => table.readable[role].has(name))
}

export interface RowQuery<Found> {
  readonly text: string
  readonly values: readonly unknown[]
  decode(rows: readonly unknown[]): Map<Change, Found>
}

const visibleRowSchema = z.object({ position: z.number(), record: z.string(), exact: z.string().nullable() })

/** Keys are typed arrays, so that the comparison is leakproof and can use the index under a policy. */
export function visibleRowsQuery(
  table: PublishedTable,
  role: ApiRole,
  changes: readonly Change[],
  parseRow: ParseRow = createRowParser(),
): RowQuery<VisibleRow> {
  const columns = readableColumns(table, role)
  const quote = (name: string) => pg.escapeIdentifier(name)
  const list = columns.map(({ name }) => `t.${quote(name)}`).join(', ')
  const exact = columns
    .filter(({ format }) => ROUNDED_FORMATS.has(format))
    .map(({ name }) => `${pg.escapeLiteral(name)}, t.${quote(name)}::text`)
  const arrays = table.key.map(({ format }, index) => `$${index + 1}::${format}[]`).join(', ')
  const names = table.key.map((_, index) => `k${index}`).join(', ')
  const matches = table.key.map(({ name }, index) => `t.${quote(name)} = k.k${index}`).join(' and ')
  return {
    text: `select k.position::int, (select row_to_json(r.*) from (select ${list}) r)::text as record,
      ${exact.length > 0 ? `json_build_object(${exact.join(', ')})::text` : 'null::text'} as exact
    from unnest(${arrays}) with ordinality as k (${names}, position)
    join ${table.sqlName} t on ${matches}`,
    values: table.key.map(({ name }) => changes.map(({ key }) => key?.[name])),
    decode: (rows) =>
      groupByChange(changes, z.array(visibleRowSchema).parse(rows), ({ record, exact: rounded }) => ({
        json: record,
        values: parseRow(table, record, rounded),
      })),
  }
}

function groupByChange<Row extends { readonly position: number }, Found>(
  changes: readonly Change[],
  rows: readonly Row[],
  read: (row: Row) => Found,
): Map<Change, Found> {
  return new Map(
    rows.flatMap((row): [Change, Found][] => {
      const change = changes[row.position - 1]
      return change ? [[change, read(row)]] : []
    }),
  )
}

/** The recorded part of an old row, for one subscriber. */
export interface OldRow {
  /** Policies allow the recorded part; their subqueries see current data. */
  readonly wasVisible: boolean
  readonly keyJson: string
  readonly json: string
  readonly values: Readonly<Record<string, unknown>>
}

const oldRowSchema = z.object({
  position: z.number(),
  wasVisible: z.boolean(),
  key: z.string(),
  json: z.string(),
  exact: z.string(),
})

export function oldRowsQuery(
  table: PublishedTable,
  role: ApiRole,
  changes: readonly Change[],
  parseRow: ParseRow = createRowParser(),
): RowQuery<OldRow> {
  const readable = readableColumns(table, role)
  const namesOf = (columns: readonly Column[]) => columns.map(({ name }) => name)
  return {
    text: `select i.position::int,
      exists (
        select from jsonb_populate_record(null::${table.sqlName}, i.image) as ${pg.escapeIdentifier(table.name)}
        where ${table.visibility[role]}
      ) as "wasVisible",
      (select coalesce(jsonb_object_agg(c, i.image -> c), '{}') from unnest($2::text[]) c)::text as key,
      (select coalesce(jsonb_object_agg(c, i.image -> c), '{}') from unnest($3::text[]) c where i.image ? c)::text as json,
      (select coalesce(jsonb_object_agg(c, i.image ->> c), '{}') from unnest($4::text[]) c where i.image ? c)::text as exact
    from unnest($1::jsonb[]) with ordinality as i (image, position)`,
    values: [
      changes.map(({ old }) => old ?? '{}'),
      namesOf(table.key),
      namesOf(readable),
      namesOf(readable.filter(({ format }) => ROUNDED_FORMATS.has(format))),
    ],
    decode: (rows) =>
      groupByChange(changes, z.array(oldRowSchema).parse(rows), ({ wasVisible, key, json, exact }) => ({
        wasVisible,
        keyJson: key,
        json,
        values: parseRow(table, json, exact),
      })),
  }
}
