/** Why a model gave no answer, or not all of it, in words for the person who asked. */
import { AppError, codeOf, messageOf } from '#server/base/errors.ts'
import { toStorableText } from './storable-text.ts'

const LONGEST_QUOTED_ERROR = 300

export type ProviderErrorCode =
  | 'not_configured'
  | 'unknown_model'
  | 'question_too_long'
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

/** The HTTP status in an AI SDK error, which may wrap the last of several tries. */
function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('statusCode' in error && typeof error.statusCode === 'number') return error.statusCode
  return 'lastError' in error ? statusOf(error.lastError) : undefined
}

const CONNECTION_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** Whether the provider rejected the request for something in it that these words name. */
const refuses = (error: unknown, words: RegExp): boolean =>
  error instanceof ProviderError &&
  (error.code === 'provider_rejected' || error.code === 'unknown_model') &&
  words.test(messageOf(error.cause))

/** Whether the provider rejected the request for the tools in it. */
export const refusesTools = (error: unknown): boolean => refuses(error, /\btools?\b|function.?call/i)

/** Whether it did so for the pictures. */
export const refusesPictures = (error: unknown): boolean =>
  refuses(error, /image|picture|vision|multimodal|content.*(?:type|string)/i)

/** What the guard of a person's endpoint refused or could not reach, in its own words. */
function refusalOf(error: unknown): AppError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof AppError) return current
    if ('lastError' in current && current.lastError !== current) return refusalOf(current.lastError)
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

/** @param wasSilent whether it was given up for its silence. */
export function toProviderError(error: unknown, provider: string, wasSilent: boolean): ProviderError {
  if (error instanceof ProviderError) return error
  if (wasSilent)
    return new ProviderError(
      'provider_timed_out',
      `${provider} stopped answering. Nothing of your question was lost: try again.`,
      { retryable: true, cause: error },
    )
  const answered = statusOf(error)
  // A stream that breaks carries the status it began with.
  const status = answered !== undefined && answered >= 400 ? answered : undefined
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
      `${provider} rejected the request: ${toStorableText(messageOf(error).slice(0, LONGEST_QUOTED_ERROR))}`,
      { retryable: false, cause: error },
    )
  if (status !== undefined)
    return new ProviderError('provider_failed', `${provider} had an error of its own (${status}). Try again.`, {
      retryable: true,
      cause: error,
    })
  const refusal = refusalOf(error)
  if (refusal)
    return new ProviderError('provider_failed', refusal.message, {
      retryable: refusal.code === 'unavailable',
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
