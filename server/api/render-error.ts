import type { Context, ErrorHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { APP_ERROR_STATUS, AppError } from '#server/base/errors.ts'
import { type Log, logFailedRequest } from '#server/base/log.ts'
import { currentRequestId } from '#server/base/request-id.ts'
import { isRefusedTurn } from '#server/database/admission.ts'
import { toAppError } from '#server/database/errors.ts'

/** Renders `{ error: { code, message, requestId } }`; logs unexpected errors and answers them without detail. */
export function renderApiError(log: Log): ErrorHandler {
  return function render(thrown: Error, context: Context): Response {
    const error = toAppError(thrown)
    const requestId = currentRequestId()
    if (error instanceof AppError) {
      if (error.code === 'unavailable')
        log.warn({ requestId, err: error, path: context.req.path }, 'a request could not be served')
      if (isRefusedTurn(error)) context.header('retry-after', String(error.details.retryAfterS))
      return context.json(
        { error: { code: error.code, message: error.message, requestId } },
        APP_ERROR_STATUS[error.code],
      )
    }
    if (error instanceof HTTPException && error.status < 500) {
      return context.json({ error: { code: 'bad_request', message: error.message, requestId } }, error.status)
    }
    logFailedRequest(log, { err: error, method: context.req.method, path: context.req.path }, 'a request failed')
    return context.json({ error: { code: 'internal', message: 'Something went wrong on our side.', requestId } }, 500)
  }
}
