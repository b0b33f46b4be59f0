import pg from 'pg'
import { AppError, type AppErrorCode, codeOf, toError } from '#server/base/errors.ts'

const CODES: readonly (readonly [sqlState: string, code: AppErrorCode, message?: string])[] = [
  ['23505', 'conflict'],
  ['23503', 'conflict'],
  ['42501', 'forbidden'],
  ['23502', 'bad_request'],
  ['23514', 'bad_request'],
  ['22', 'bad_request'],
  // Raised by the limits of our own migrations; PostgREST answers them with the status in the code.
  ['PT404', 'not_found'],
  ['PT409', 'conflict'],
  ['PT413', 'too_large'],
  ['PT429', 'rate_limited'],
  // Also `temp_file_limit`: sorting or joining would write too much to the disk.
  ['53400', 'too_large', 'This takes too much space to sort. Ask for less at a time.'],
  ['40001', 'unavailable'],
  ['40P01', 'unavailable'],
  ['08', 'unavailable'],
  ['53', 'unavailable'],
  ['57P0', 'unavailable'],
  ['57014', 'unavailable', 'The database took too long over this request. Ask for less at a time.'],
  ['55P03', 'unavailable', 'Another request is changing what this one needs. Try again in a moment.'],
]
const NETWORK_FAILURES = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT'])
const CONNECTION_FAILURES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/

export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P0)/.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  // A host with several addresses: one error for each.
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure)
  const isAtDatabase =
    'syscall' in error && (error.syscall === 'connect' || error.syscall === 'read' || error.syscall === 'write')
  return CONNECTION_FAILURES.test(error.message) || (isAtDatabase && NETWORK_FAILURES.has(codeOf(error) ?? ''))
}

const CANNOT_CONNECT_NOW = '57P03'

/** Whether a write may have been committed although it failed: its connection broke before the answer. */
export function mayBeCommitted(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(mayBeCommitted)
  const isAtConnect =
    error instanceof Error &&
    (('syscall' in error && error.syscall === 'connect') ||
      error.message.startsWith('timeout exceeded when trying to connect') ||
      codeOf(error) === CANNOT_CONNECT_NOW)
  return isConnectionFailure(error) && !isAtConnect
}

export function isTransientFailure(error: unknown): boolean {
  const translated = toAppError(error)
  return translated instanceof AppError && translated.code === 'unavailable'
}

/** Translates the error of a query. Errors that are neither the caller's nor transient return unchanged. */
export function toAppError(error: unknown): Error {
  if (error instanceof AppError) return error
  if (isConnectionFailure(error))
    return new AppError('unavailable', 'The database cannot be reached.', { cause: error })
  if (error instanceof pg.DatabaseError) {
    const { code: sqlState = '' } = error
    const [, code, message = error.message] = CODES.find(([start]) => sqlState.startsWith(start)) ?? []
    if (code) return new AppError(code, message, { cause: error, details: { sqlState } })
  }
  return toError(error)
}
