/**
 * Every error that a person or a program is meant to read. Domain code throws codes; each edge turns a code into its own
 * dialect and status, once.
 */
export const APP_ERROR_STATUS = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported_type: 415,
  empty: 422,
  rate_limited: 429,
  unavailable: 503,
  startup: 500,
} as const

export type AppErrorCode = keyof typeof APP_ERROR_STATUS

export class AppError extends Error {
  readonly code: AppErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(
    code: AppErrorCode,
    message: string,
    { cause, details }: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'AppError'
    this.code = code
    this.details = details
  }
}

/** The message of whatever was thrown, for logs and for errors that quote their cause. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** The `code` of an operating-system, PostgreSQL or fetch error, where it has one. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined
  return typeof thrown.code === 'string' ? thrown.code : undefined
}

/** Whether whoever sent a request went away before all of it had come, as Node says it. */
export const isBrokenOff = (thrown: unknown): boolean =>
  codeOf(thrown) === 'ECONNRESET' && messageOf(thrown) === 'aborted'
