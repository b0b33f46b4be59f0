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

const MAX_MESSAGES = 4
/** Levels of errors in errors: one may hold itself. */
const MAX_DEPTH = 2

/** A host with several addresses fails with an error without a message, which holds the error of each. */
export const messageOf = (thrown: unknown): string => messagesOf(thrown, 0).join(', ')

function messagesOf(thrown: unknown, depth: number): string[] {
  if (thrown instanceof AggregateError && thrown.message === '' && depth < MAX_DEPTH) {
    const errors: readonly unknown[] = thrown.errors.slice(0, MAX_MESSAGES)
    return errors.flatMap((error) => messagesOf(error, depth + 1)).slice(0, MAX_MESSAGES)
  }
  return [thrown instanceof Error ? thrown.message : String(thrown)]
}

export const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(messageOf(thrown)))

export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined
  return typeof thrown.code === 'string' ? thrown.code : undefined
}

/** The reason of `AbortSignal.timeout`. */
export const isTimeout = (thrown: unknown): boolean => thrown instanceof DOMException && thrown.name === 'TimeoutError'

/** Node's error for a connection that the client closed before its request was complete. */
export const isAborted = (thrown: unknown): boolean =>
  codeOf(thrown) === 'ECONNRESET' && messageOf(thrown) === 'aborted'
