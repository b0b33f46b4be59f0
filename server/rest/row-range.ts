import { restError } from './errors.ts'

export interface RowRange {
  readonly offset: bigint
  readonly limit: bigint | undefined
}

const smaller = (a: bigint | undefined, b: bigint | undefined) =>
  a === undefined ? b : b === undefined || a < b ? a : b

/** A `header` other than `from-to` is ignored; `maxRows` is the server's limit. @throws RestError PGRST103 */
export function resolveRange(
  { limit, offset = 0n }: { limit?: bigint | undefined; offset?: bigint | undefined },
  header: string | undefined,
  maxRows: number | undefined,
): RowRange {
  if (limit !== undefined && limit < 0n) {
    throw restError('PGRST103', 'Requested range not satisfiable', {
      details: 'Limit should be greater than or equal to zero.',
    })
  }
  const cap = maxRows === undefined ? undefined : BigInt(maxRows)
  const [, from, to] = /^(\d{1,18})-(\d{0,18})$/.exec(header?.trim() ?? '') ?? []
  if (from === undefined || to === undefined || limit === 0n) return { offset, limit: smaller(limit, cap) }
  const first = BigInt(from) > offset ? BigInt(from) : offset
  const end = smaller(limit === undefined ? undefined : offset + limit, to === '' ? undefined : BigInt(to) + 1n)
  if (end !== undefined && end <= first) {
    throw restError('PGRST103', 'Requested range not satisfiable', {
      details: 'The lower boundary must be lower than or equal to the upper boundary in the Range header.',
    })
  }
  return { offset: first, limit: smaller(end === undefined ? undefined : end - first, cap) }
}

/** For example `0-4/57`: first and last row, and total. `*` is an empty range or an unknown total. */
export function contentRange(offset: bigint, rows: number, total: number | undefined): string {
  const range = total !== 0 && rows > 0 ? `${offset}-${offset + BigInt(rows) - 1n}` : '*'
  return `${range}/${total ?? '*'}`
}
