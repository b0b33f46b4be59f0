import pg from 'pg'
import { z } from 'zod'
import { codeOf } from '#server/base/errors.ts'
import type { ApiRole } from '#server/database/scope.ts'
import type { Column, PublishedTable } from './catalogue.ts'
import type { Change } from './outbox.ts'
import { createRowParser, type ParseRow } from './parse-row.ts'

/** Above it, the protocol sends small columns only. */
export const MAX_ROW_BYTES = 1024 * 1024
/** Columns of a larger row that filters can still read. */
const MAX_KEPT_VALUE_BYTES = 8192
/** Bytes that one transaction may read, over all people; smaller rows are not counted. */
const MAX_READ_BYTES = 16 * 1024 * 1024
const UNCOUNTED_BYTES = 512

const TOO_MANY_BYTES = 'PT413'
const TOO_SLOW = '57014'

/** Whether the rows of one transaction were too large together. Fewer of them can be read. */
export function isTooMuch(error: unknown): boolean {
  const code = codeOf(error)
  return code === TOO_MANY_BYTES || code === TOO_SLOW
}

/** PostgreSQL knows their length without reading them. Of others, it knows the compressed one. */
const MEASURED_FORMATS = new Set(['text', 'character varying', 'bytea'])

function storedBytesToSql({ name, format }: Column): string {
  const column = `t.${pg.escapeIdentifier(name)}`
  return `coalesce(${MEASURED_FORMATS.has(format) ? 'octet_length' : 'pg_column_size'}(${column}), 0)`
}

const countToSql = (bytes: string): string =>
  `case when ${bytes} > ${UNCOUNTED_BYTES} then realtime.count_read(${bytes}, ${MAX_READ_BYTES}) end as counted`

export interface VisibleRow {
  /** As PostgreSQL renders it. */
  readonly json: string
  /** Large columns are missing. */
  readonly isCut: boolean
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
  readonly values: readonly (readonly unknown[])[]
  readonly decode: (rows: readonly unknown[]) => Map<Change, Found>
}

const visibleRowSchema = z.object({
  position: z.number(),
  record: z.string(),
  exact: z.string().nullable(),
  isCut: z.boolean(),
})

/** The row without its large columns. A value is measured as it is stored before it is rendered. */
function cutRecordToSql(columns: readonly Column[]): string {
  const values = columns.map((column) => {
    const [name, value] = [pg.escapeLiteral(column.name), `t.${pg.escapeIdentifier(column.name)}`]
    return `(${name}, case when ${storedBytesToSql(column)} > ${MAX_KEPT_VALUE_BYTES} then null else coalesce(to_json(${value}), 'null') end)`
  })
  return `(select coalesce(json_object_agg(v.name, v.value), '{}')::text
    from (values ${values.join(', ')}) v (name, value)
    where octet_length(v.value::text) <= ${MAX_KEPT_VALUE_BYTES})`
}

/** Keys are typed arrays, so that the comparison is leakproof and can use the index under a policy. */
function keysToSql({ key, sqlName }: PublishedTable): string {
  const arrays = key.map(({ format }, index) => `$${index + 1}::${format}[]`).join(', ')
  const names = key.map((_, index) => `k${index}`).join(', ')
  const matches = key.map(({ name }, index) => `t.${pg.escapeIdentifier(name)} = k.k${index}`).join(' and ')
  return `unnest(${arrays}) with ordinality as k (${names}, position) join ${sqlName} t on ${matches}`
}

const keyValues = ({ key }: PublishedTable, changes: readonly Change[]) =>
  key.map(({ name }) => changes.map((change) => change.key?.[name]))

const positionSchema = z.object({ position: z.number() })

/** Which rows a person may see, without their values. */
export function visibleKeysQuery(table: PublishedTable, changes: readonly Change[]): RowQuery<true> {
  return {
    text: `select k.position::int from ${keysToSql(table)}`,
    values: keyValues(table, changes),
    decode: (rows) => groupByChange(changes, z.array(positionSchema).parse(rows), () => true),
  }
}

export function visibleRowsQuery(
  table: PublishedTable,
  role: ApiRole,
  changes: readonly Change[],
  parseRow: ParseRow = createRowParser(),
  maxRowBytes = MAX_ROW_BYTES,
): RowQuery<VisibleRow> {
  const columns = readableColumns(table, role)
  const quote = (name: string) => pg.escapeIdentifier(name)
  const list = columns.map(({ name }) => `t.${quote(name)}`).join(', ')
  const stored = columns.map((column) => `${storedBytesToSql(column)}::bigint`).join(' + ')
  const exact = columns
    .filter(({ format }) => ROUNDED_FORMATS.has(format))
    .map(({ name }) => `${pg.escapeLiteral(name)}, t.${quote(name)}::text`)
  const rendered = `(select row_to_json(r.*) from (select ${list}) r)::text`
  // `offset 0` renders each row once. A row that is large as it is stored is not rendered at all.
  return {
    text: `
      select position, record, "isCut",
        case when octet_length(exact) <= ${MAX_ROW_BYTES} then exact end as exact,
        ${countToSql('octet_length(record)')}
      from (
        select k.position::int, ${exact.length > 0 ? `json_build_object(${exact.join(', ')})::text` : 'null::text'} as exact,
          w.is_large as "isCut", case when w.is_large then ${cutRecordToSql(columns)} else w.record end as record
        from ${keysToSql(table)}
        cross join lateral (
          select record, coalesce(octet_length(record) > ${maxRowBytes}, true) as is_large
          from (select case when ${stored} <= ${MAX_ROW_BYTES} then ${rendered} end as record offset 0) whole
          offset 0
        ) w
        offset 0
      ) r`,
    values: keyValues(table, changes),
    decode: (rows) =>
      groupByChange(changes, z.array(visibleRowSchema).parse(rows), ({ record, exact: rounded, isCut }) => ({
        json: record,
        isCut,
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

/** Images are cut when they are recorded. */
export function oldRowsQuery(
  table: PublishedTable,
  role: ApiRole,
  changes: readonly Change[],
  parseRow: ParseRow = createRowParser(),
): RowQuery<OldRow> {
  const readable = readableColumns(table, role)
  const namesOf = (columns: readonly Column[]) => columns.map(({ name }) => name)
  return {
    text: `select r.*, ${countToSql('octet_length(r.json)')} from (
      select i.position::int,
        exists (
          select from jsonb_populate_record(null::${table.sqlName}, i.image) as ${pg.escapeIdentifier(table.name)}
          where ${table.visibility[role]}
        ) as "wasVisible",
        (select coalesce(jsonb_object_agg(c, i.image -> c), '{}') from unnest($2::text[]) c)::text as key,
        (select coalesce(jsonb_object_agg(c, i.image -> c), '{}') from unnest($3::text[]) c where i.image ? c)::text as json,
        (select coalesce(jsonb_object_agg(c, i.image ->> c), '{}') from unnest($4::text[]) c where i.image ? c)::text as exact
      from unnest($1::jsonb[]) with ordinality as i (image, position)
      offset 0
    ) r`,
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
