/** Bounds of one answer. Rows past the limit are left out, as by PostgREST's `db-max-rows`; excess bytes are an error. */

export interface AnswerBounds {
  /** Rows of the answer, and of each embedded list; undefined: no limit. */
  readonly maxRows: number | undefined
  /** Bytes of JSON. Rows so small that `maxRows` of them stay below this are not counted. */
  readonly maxBytes: number
}

export const DEFAULT_ANSWER_BOUNDS: AnswerBounds = { maxRows: 50_000, maxBytes: 32 * 1024 * 1024 }

interface Collected {
  /** Aggregate over the rows. */
  readonly sql: string
  /** SQL of the bytes that one row adds. */
  readonly bytes: string
  readonly maxBytes: number
  /** Undefined: the number of rows has no limit. */
  readonly maxRows: number | undefined
}

/** The aggregate, unless its rows exceed the bound: then PostgreSQL raises PT413 at the first row past it. */
export function boundedToSql({ sql, bytes, maxBytes, maxRows }: Collected): string {
  const uncounted = maxRows === undefined ? '' : ` filter (where ${bytes} > ${Math.floor(maxBytes / maxRows)})`
  // The result depends on the sum, because the planner drops columns that nothing reads.
  return `case when coalesce(extensions.answer_bytes(${bytes}, ${maxBytes})${uncounted}, 0) >= 0 then ${sql} end`
}
