/** Errors with PostgREST's codes: `{code, message, details, hint}` and a status. */
import pg from 'pg'
import { z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import { isRefusedTurn } from '#server/database/admission.ts'
import { isConnectionFailure } from '#server/database/errors.ts'
import { isPatternLimit } from '#server/database/pattern-limits.ts'
import { isParseError } from '#server/database/scanner.ts'
import { headerName, headerValue, jsonText } from './headers.ts'

/** PGRST0xx: connection, 1xx: request, 2xx: names missing in the catalogue, 3xx: tokens. */
const STATUS = {
  PGRST000: 503,
  PGRST003: 504,
  PGRST100: 400,
  PGRST101: 405,
  PGRST102: 400,
  PGRST103: 416,
  PGRST106: 406,
  PGRST107: 406,
  PGRST108: 400,
  PGRST111: 500,
  PGRST112: 500,
  PGRST116: 406,
  PGRST117: 405,
  PGRST118: 400,
  PGRST120: 400,
  PGRST121: 500,
  PGRST122: 400,
  PGRST123: 400,
  PGRST124: 400,
  PGRST125: 404,
  PGRST128: 400,
  PGRST200: 400,
  PGRST201: 300,
  PGRST202: 404,
  PGRST203: 300,
  PGRST204: 400,
  PGRST205: 404,
  PGRST301: 401,
  PGRST302: 401,
  PGRST303: 401,
  PGRSTX00: 500,
} as const

type RestErrorCode = keyof typeof STATUS

/** A list holds the candidates for an ambiguous request. */
type Details = string | readonly Readonly<Record<string, string>>[] | null

export class RestError extends Error {
  readonly code: string
  readonly status: number
  readonly details: Details
  readonly hint: string | null
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: string,
    status: number,
    message: string,
    {
      details = null,
      hint = null,
      headers = {},
      cause,
    }: { details?: Details; hint?: string | null; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'RestError'
    this.code = code
    this.status = status
    this.details = details
    this.hint = hint
    this.headers = headers
  }
}

export const restError = (code: RestErrorCode, message: string, options?: ConstructorParameters<typeof RestError>[3]) =>
  new RestError(code, STATUS[code], message, options)

/** PostgreSQL's own error for an unknown column. */
export const unknownColumn = (relation: string, column: string) =>
  new RestError('42703', 400, `column ${relation}.${column} does not exist`)

const LOCK_NOT_AVAILABLE = '55P03'
/** Also `temp_file_limit`: sorting or joining would write too much to the disk. */
const SORT_SPACE_EXCEEDED = '53400'

/** By SQLSTATE prefix; first match wins. Unlike in PostgREST, classes 53400 and 54 (too large, too complex) are client errors by their cause. */
const SQL_STATUS: readonly (readonly [sqlState: string, status: number])[] = [
  ['08', 503],
  ['09', 500],
  ['0L', 403],
  ['0P', 403],
  ['21000', 500],
  ['23503', 409],
  ['23505', 409],
  ['25006', 405],
  ['25', 500],
  ['28', 403],
  ['2D', 500],
  ['38', 500],
  ['39', 500],
  ['3B', 500],
  ['40', 500],
  ['42883', 404],
  ['42P01', 404],
  ['42P17', 500],
  [SORT_SPACE_EXCEEDED, 413],
  ['53', 503],
  [LOCK_NOT_AVAILABLE, 503],
  ['55', 500],
  ['57P01', 503],
  ['57', 500],
  ['58', 500],
  ['F0', 500],
  ['HV', 500],
  ['P0001', 400],
  ['P0', 500],
  ['XX', 500],
]

const HINTS: Readonly<Record<string, string>> = {
  [LOCK_NOT_AVAILABLE]: 'Another request is changing what this one needs. Try again in a moment.',
  [SORT_SPACE_EXCEEDED]: 'Sort or join fewer rows, or smaller columns (select=, filters, order= by an indexed column).',
}

function headersOf(sqlState: string, status: number): Record<string, string> {
  if (status === 401) return { 'WWW-Authenticate': 'Bearer' }
  return sqlState === LOCK_NOT_AVAILABLE ? { 'Retry-After': '1' } : {}
}

function statusForSqlState(sqlState: string, isSignedIn: boolean): number {
  if (sqlState === '42501') return isSignedIn ? 403 : 401
  const raised = /^PT([2-5]\d\d)$/.exec(sqlState)?.[1]
  if (raised !== undefined) return Number(raised)
  return SQL_STATUS.find(([start]) => sqlState.startsWith(start))?.[1] ?? 400
}

const raisedMessageSchema = jsonText.pipe(
  z.object({
    code: z.string(),
    message: z.string(),
    details: z.string().nullish(),
    hint: z.string().nullish(),
  }),
)
const raisedDetailSchema = jsonText.pipe(
  z.object({ status: z.int().min(200).max(599), headers: z.record(headerName, headerValue) }),
)

const invalidRaise = (part: 'MESSAGE' | 'DETAIL', text: string, keys: string) =>
  restError('PGRST121', `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`, {
    details: `Invalid JSON value for ${part}: '${text}'`,
    hint: `${part} must be a JSON object with obligatory keys: ${keys}.`,
  })

/** SQLSTATE PGRST: message and detail hold the complete response. */
function parseRaisedError({ message: text, detail = '' }: pg.DatabaseError): RestError {
  const raised = raisedMessageSchema.safeParse(text)
  if (!raised.success) return invalidRaise('MESSAGE', text, '"code", "message" and optional keys: "details", "hint"')
  const response = raisedDetailSchema.safeParse(detail)
  if (!response.success) return invalidRaise('DETAIL', detail, '"status", "headers" and optional key: "status_text"')
  const { code, message, details = null, hint = null } = raised.data
  return new RestError(code, response.data.status, message, { details, hint, headers: response.data.headers })
}

function turnRefused(error: AppError & { details: { retryAfterS: number } }): RestError {
  const status = error.code === 'rate_limited' ? 429 : STATUS.PGRST003
  const headers = { 'Retry-After': String(error.details.retryAfterS) }
  return new RestError('PGRST003', status, error.message, { headers, cause: error })
}

/** The bound of the driver, in the words of the bound in PostgreSQL. */
const tooLarge = (error: AppError) =>
  new RestError('PT413', 413, 'The answer is too large', {
    details: error.message,
    hint: 'Select fewer columns or fewer rows (select=, limit=, Range). A write returns no rows with Prefer: return=minimal.',
    cause: error,
  })

/** Undefined for an unexpected error. A missing privilege is 403 if `isSignedIn`, else 401. */
export function toRestError(error: unknown, isSignedIn: boolean): RestError | undefined {
  if (error instanceof RestError) return error
  if (isPatternLimit(error)) {
    const { pattern, patternLimit } = error.details
    return restError('PGRST100', error.message, {
      details: `The pattern "${pattern}" is rejected: ${patternLimit}.`,
      hint: 'Use a shorter or simpler pattern, or several filters.',
      cause: error,
    })
  }
  if (isParseError(error)) return restError('PGRST100', error.message, { details: error.details.parse, cause: error })
  if (error instanceof AppError && error.code === 'unauthenticated') {
    const isExpired = error.details?.['reason'] === 'expired' || error.details?.['reason'] === 'ended'
    const message = isExpired ? error.message : 'No suitable key or wrong key type'
    return restError(isExpired ? 'PGRST303' : 'PGRST301', message, {
      details: isExpired ? null : 'None of the keys was able to decode the JWT',
      headers: { 'WWW-Authenticate': `Bearer error="invalid_token", error_description="${message}"` },
      cause: error,
    })
  }
  if (error instanceof AppError && isRefusedTurn(error)) return turnRefused(error)
  if (error instanceof AppError && error.code === 'too_large') return tooLarge(error)
  if (isConnectionFailure(error)) return restError('PGRST000', 'Database connection error.', { cause: error })
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return undefined
  if (error.code === 'PGRST') return parseRaisedError(error)
  const status = statusForSqlState(error.code, isSignedIn)
  return new RestError(error.code, status, error.message, {
    details: error.detail ?? null,
    hint: error.hint ?? HINTS[error.code] ?? null,
    headers: headersOf(error.code, status),
    cause: error,
  })
}

export function renderError({ code, message, details, hint, status, headers }: RestError, isHead = false): Response {
  const body = JSON.stringify({ code, message, details, hint })
  return new Response(isHead ? null : body, {
    status,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Proxy-Status': `PostgREST; error=${code}`,
      ...headers,
    },
  })
}
