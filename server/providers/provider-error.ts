import { AppError, codeOf, messageOf } from '#server/base/errors.ts'
import { AnsweredError, describeBody } from './answered-error.ts'
import { toStorableText } from './storable-text.ts'

const MAX_QUOTED_ERROR_LENGTH = 300

export type ProviderErrorCode =
  | 'not_configured'
  | 'unknown_model'
  | 'not_offered'
  | 'question_too_long'
  | 'no_room'
  | 'limit_reached'
  | 'provider_refused_key'
  | 'provider_rate_limited'
  | 'provider_rejected'
  | 'provider_failed'
  | 'provider_timed_out'
  | 'provider_cut_off'
  | 'provider_filtered'
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

/** The first error of that class among an error, its causes, and the last attempts. */
function findError<T>(error: unknown, kind: abstract new (...args: never[]) => T): T | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof kind) return current
    if ('lastError' in current && current.lastError !== current) return findError(current.lastError, kind)
  }
  return undefined
}

/** The error of an AI SDK for a response of any status with a body that it could not use. */
function findBody(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('responseBody' in error && typeof error.responseBody === 'string') return error.responseBody
  return 'lastError' in error ? findBody(error.lastError) : undefined
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
  const appError = findError(error, AppError)
  const body = findBody(error)
  const status = statusOf(error)
  const isRejected = status !== undefined && status >= 400
  const answered =
    findError(error, AnsweredError) ??
    (body === undefined || body.trim() === '' ? undefined : describeBody(body, isRejected ? status : undefined))
  if (answered) return fromAnswer(answered, provider, error)
  // The error of a broken stream has the status of its beginning.
  if (isRejected) return fromStatus(status, messageOf(error), provider, error)
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

function fromAnswer({ message, status, isRetryable, isPage }: AnsweredError, provider: string, cause: unknown) {
  if (isPage) return fromPage(message, status, provider, cause)
  if (status !== undefined) return fromStatus(status, message, provider, cause)
  const said = message === '' ? 'answered with nothing. Try again.' : `answered with an error: ${quote(message)}`
  return new ProviderError('provider_failed', `${provider} ${said}`, { retryable: isRetryable, cause })
}

const quote = (text: string): string => {
  const storable = toStorableText(text.replace(/\s+/g, ' ').trim().slice(0, MAX_QUOTED_ERROR_LENGTH))
  return /[.!?]$/.test(storable) ? storable : `${storable}.`
}

function fromStatus(status: number, message: string, provider: string, cause: unknown): ProviderError {
  const said = message === '' ? '' : ` It says: ${quote(message)}`
  if (status === 401 || status === 403)
    return new ProviderError('provider_refused_key', `${provider} refused the key that is configured for it.${said}`, {
      retryable: false,
      cause,
    })
  if (status === 429)
    return new ProviderError(
      'provider_rate_limited',
      `${provider} is receiving too many requests. Wait a moment, then try again.${said}`,
      { retryable: true, cause },
    )
  if (status === 404)
    return new ProviderError('unknown_model', `${provider} does not offer this model. Choose another one.${said}`, {
      retryable: false,
      cause,
    })
  if (status === 413)
    return new ProviderError(
      'provider_rejected',
      `${provider} takes no request as large as this question with its passages (413).${said}`,
      { retryable: false, cause },
    )
  if (status < 500)
    return new ProviderError(
      'provider_rejected',
      `${provider} rejected the request: ${quote(message || String(status))}`,
      {
        retryable: status === 408,
        cause,
      },
    )
  return new ProviderError('provider_failed', `${provider} had an error of its own (${status}). Try again.${said}`, {
    retryable: true,
    cause,
  })
}

/** A page for people comes from a proxy, a firewall or another web server, never from a model server. */
function fromPage(title: string, status: number | undefined, provider: string, cause: unknown): ProviderError {
  const page = title === '' ? '' : ` Its page says: ${quote(title)}`
  const failed = (words: string, retryable: boolean) =>
    new ProviderError(retryable ? 'provider_failed' : 'provider_rejected', words + page, { retryable, cause })
  const numbered = `(${status})`
  if (status === undefined)
    return failed(
      `${provider} answered with a web page in the place of an answer: check its address, or sign in to the network.`,
      false,
    )
  if (status === 413)
    return failed(
      `A server in front of ${provider} takes no request as large as this question with its passages ${numbered}.`,
      false,
    )
  if (status === 401 || status === 407)
    return failed(`A server in front of ${provider} wants a sign-in of its own ${numbered}.`, false)
  if (status === 404)
    return failed(`There is a web server at the address of ${provider}, but no model ${numbered}.`, false)
  if (status === 429)
    return failed(`A server in front of ${provider} takes no more requests for now ${numbered}. Try again.`, true)
  if (status < 500) return failed(`A server in front of ${provider} refused the request ${numbered}.`, status === 408)
  return failed(`A server in front of ${provider} cannot reach it ${numbered}. Try again.`, true)
}
