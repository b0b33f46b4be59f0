import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import { AppError } from '#server/base/errors.ts'
import { type Log, logFailedRequest } from '#server/base/log.ts'
import { isRefusedTurn } from '#server/database/admission.ts'
import { toAppError } from '#server/database/errors.ts'
import { AuthError, OAuthError } from './errors.ts'

export const VERSION_HEADER = 'x-supabase-api-version'
const NAMED_CODES_SINCE = '2024-01-01'

/** Undefined is the first API version, where `code` is the status number. */
export function requestedVersion(context: Context): typeof NAMED_CODES_SINCE | undefined {
  const asked = context.req.header(VERSION_HEADER) ?? ''
  return /^\d{4}-\d\d-\d\d$/.test(asked) && asked >= NAMED_CODES_SINCE ? NAMED_CODES_SINCE : undefined
}

/** Unexpected errors are logged and answered without detail. */
export function asAuthError(thrown: unknown, context: Context, log: Log): AuthError {
  if (thrown instanceof AuthError && thrown.status < 500) return thrown
  if (isRefusedTurn(thrown)) {
    const code = thrown.code === 'rate_limited' ? 'over_request_rate_limit' : 'request_timeout'
    return new AuthError(code, thrown.message, { cause: thrown, retryAfterS: thrown.details.retryAfterS })
  }
  const known = toAppError(thrown)
  if (known instanceof AppError && known.code === 'too_large') {
    return new AuthError('request_entity_too_large', known.message, { cause: thrown })
  }
  const errorId = randomUUID()
  logFailedRequest(
    log,
    { err: thrown, errorId, method: context.req.method, path: context.req.path },
    'an auth request failed',
  )
  const message =
    thrown instanceof AuthError ? thrown.message : 'Unexpected failure, please check server logs for more information'
  return new AuthError('unexpected_failure', message, { cause: thrown, body: { error_id: errorId } })
}

export function renderError(thrown: unknown, context: Context, log: Log): Response {
  if (thrown instanceof OAuthError) {
    return context.json({ error: thrown.code, error_description: thrown.message }, 400)
  }
  const { code, status, message, body, retryAfterS } = asAuthError(thrown, context, log)
  context.header('x-sb-error-code', code)
  if (retryAfterS !== undefined) context.header('retry-after', String(retryAfterS))
  return requestedVersion(context) === undefined
    ? context.json({ code: status, error_code: code, msg: message, ...body }, status)
    : context.json({ code, message, ...body }, status)
}
