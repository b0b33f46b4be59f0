import { AppError, codeOf, messageOf } from '#server/base/errors.ts'
import { toStorableText } from './storable-text.ts'

const MAX_QUOTED_ERROR_LENGTH = 300

export type ProviderErrorCode =
  | 'not_configured'
  | 'unknown_model'
  | 'question_too_long'
  | 'no_room'
  | 'provider_refused_key'
  | 'provider_rate_limited'
  | 'provider_rejected'
  | 'provider_failed'
  | 'provider_timed_out'
  | 'provider_cut_off'
  | 'provider_empty'

/** Its message is a sentence for the person who asked. */
export class ProviderError extends Error {
  readonly code: ProviderErrorCode
  readonly retryable: boolean

  constructor(code: ProviderErrorCode, message: string, { retryable, cause }: { retryable: boolean; cause?: unknown }) {
    super(message, { cause })
    this.name = 'ProviderError'
    this.code = code
    this.retryable = retryable
  }
}

/** The HTTP status of an AI SDK error, which may wrap the error of the last attempt. */
function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('statusCode' in error && typeof error.statusCode === 'number') return error.statusCode
  return 'lastError' in error ? statusOf(error.lastError) : undefined
}

const CONNECTION_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

const rejects = (error: unknown, words: RegExp): boolean =>
  error instanceof ProviderError &&
  (error.code === 'provider_rejected' || error.code === 'unknown_model') &&
  words.test(messageOf(error.cause))

export const rejectsTools = (error: unknown): boolean => rejects(error, /\btools?\b|function.?call/i)

export const rejectsPictures = (error: unknown): boolean =>
  rejects(error, /image|picture|vision|multimodal|content.*(?:type|string)/i)

/** Finds the error of the guarded fetch, whose message is written for people. */
function findAppError(error: unknown): AppError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof AppError) return current
    if ('lastError' in current && current.lastError !== current) return findAppError(current.lastError)
  }
  return undefined
}

function isUnreachable(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (CONNECTION_CODES.has(codeOf(current) ?? '')) return true
    if ('lastError' in current && isUnreachable(current.lastError)) return true
  }
  return false
}

export function toProviderError(error: unknown, provider: string, hasTimedOut: boolean): ProviderError {
  if (error instanceof ProviderError) return error
  if (hasTimedOut)
    return new ProviderError(
      'provider_timed_out',
      `${provider} stopped answering. Nothing of your question was lost: try again.`,
      { retryable: true, cause: error },
    )
  const statusCode = statusOf(error)
  // The error of a broken stream has the status of its beginning.
  const status = statusCode !== undefined && statusCode >= 400 ? statusCode : undefined
  if (status === 401 || status === 403)
    return new ProviderError('provider_refused_key', `${provider} refused the key that is configured for it.`, {
      retryable: false,
      cause: error,
    })
  if (status === 429)
    return new ProviderError(
      'provider_rate_limited',
      `${provider} is receiving too many requests. Wait a moment, then try again.`,
      { retryable: true, cause: error },
    )
  if (status === 404)
    return new ProviderError('unknown_model', `${provider} does not offer this model. Choose another one.`, {
      retryable: false,
      cause: error,
    })
  if (status !== undefined && status < 500)
    return new ProviderError(
      'provider_rejected',
      `${provider} rejected the request: ${toStorableText(messageOf(error).slice(0, MAX_QUOTED_ERROR_LENGTH))}`,
      { retryable: false, cause: error },
    )
  if (status !== undefined)
    return new ProviderError('provider_failed', `${provider} had an error of its own (${status}). Try again.`, {
      retryable: true,
      cause: error,
    })
  const appError = findAppError(error)
  if (appError)
    return new ProviderError('provider_failed', appError.message, {
      retryable: appError.code === 'unavailable',
      cause: error,
    })
  if (isUnreachable(error))
    return new ProviderError('provider_failed', `${provider} cannot be reached. Try again when it is up.`, {
      retryable: true,
      cause: error,
    })
  return new ProviderError('provider_cut_off', `${provider} broke off in the middle of the answer. Try again.`, {
    retryable: true,
    cause: error,
  })
}
