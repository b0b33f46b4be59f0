/** Lists that PostgreSQL renders, and counts while it collects them, so that none fills the memory of either side. */
import pg from 'pg'
import { AppError } from '#server/base/errors.ts'
import type { Scope, Statement } from './scope.ts'

export interface ListBounds {
  readonly maxRows: number
  /** Bytes of JSON. Rows so small that `maxRows` of them stay below this are not counted. */
  readonly maxBytes: number
}

export const LIST_BOUNDS: ListBounds = { maxRows: 50_000, maxBytes: 32 * 1024 * 1024 }

const LIST_TOO_LARGE = 'PT413'

function listToSql(text: string, { maxRows, maxBytes }: ListBounds): string {
  const bytes = 'pg_column_size(l.json)'
  const counted = `public.list_bytes(${bytes}, ${maxBytes}) filter (where ${bytes} > ${Math.floor(maxBytes / maxRows)})`
  // The list depends on the sum, because the planner drops what nothing reads. `offset 0` renders each row once.
  return `
    select count(*)::int as rows,
      coalesce(case when coalesce(${counted}, 0) >= 0 then json_agg(l.json) end, '[]')::text as list
    from (select to_json(r.*) as json from (select * from (${text}) s limit ${maxRows + 1}) r offset 0) l`
}

/** @returns JSON text of all rows in their order @throws AppError `too_large`, whose message ends with `wayOut` */
export async function readJsonList(
  scope: Scope,
  { text, values }: Statement,
  { wayOut, ...bounds }: ListBounds & { readonly wayOut: string },
): Promise<string> {
  const tooLarge = (cause?: unknown) =>
    new AppError('too_large', `This is too large for one answer. ${wayOut}`, { cause })
  try {
    const { rows } = await scope.query<{ rows: number; list: string }>(listToSql(text, bounds), values)
    const [read] = rows
    if (read === undefined || read.rows > bounds.maxRows) throw tooLarge()
    return read.list
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === LIST_TOO_LARGE) throw tooLarge(error)
    throw error
  }
}

/** For the server's own use. */
export async function readJsonRows<Row>(
  scope: Scope,
  statement: Statement,
  bounds: ListBounds & { readonly wayOut: string },
): Promise<Row[]> {
  return JSON.parse(await readJsonList(scope, statement, bounds)) as Row[]
}

const PAGE_ROWS = 50
const PAGE_BYTES = 4 * 1024 * 1024
/** Below what the driver takes as one message. */
const MAX_ROW_BYTES = 100 * 1024 * 1024

/**
 * Reads a list of any length in pages: fewer rows where they are large, one where a row alone is larger than a page.
 *
 * @param read is called with the last row of the page before
 */
export async function* eachRow<Row>(
  read: (last: Row | undefined, bounds: ListBounds) => Promise<readonly Row[]>,
): AsyncGenerator<Row, void> {
  let maxRows = PAGE_ROWS
  for (let last: Row | undefined; ;) {
    let page: readonly Row[]
    try {
      page = await read(last, { maxRows, maxBytes: maxRows === 1 ? MAX_ROW_BYTES : PAGE_BYTES })
    } catch (error) {
      if (maxRows === 1 || !(error instanceof AppError && error.code === 'too_large')) throw error
      maxRows >>= 1
      continue
    }
    yield* page
    if (page.length < maxRows) return
    last = page.at(-1)
    maxRows = Math.min(PAGE_ROWS, maxRows * 2)
  }
}
