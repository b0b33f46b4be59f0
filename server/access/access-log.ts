import { randomUUID } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { runAsCaller } from '#server/base/caller.ts'
import type { Log } from '#server/base/log.ts'
import { runWithRequestId } from '#server/base/request-id.ts'
import { visitorKeyOf } from './client-address.ts'

const REQUEST_ID = /^[\w.:-]{1,128}$/
/** Monitoring requests these every few seconds. */
const UNLOGGED_PATHS = new Set(['/healthz', '/metrics'])

/** Behind a trusted proxy, its `x-request-id` is the id. */
export function chooseRequestId(header: unknown, trustProxy: number): string {
  return trustProxy > 0 && typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID()
}

interface AnsweredRequest {
  readonly method: string
  /** Without the query string, which may hold tokens. */
  readonly path: string
  readonly status: number
  /** On the clock of `performance.now()`. */
  readonly startedAt: number
}

/** Within `runWithRequestId`, which gives the line its id. */
export function logRequest(log: Log, { path, startedAt, ...fields }: AnsweredRequest): void {
  if (UNLOGGED_PATHS.has(path) || !log.isLevelEnabled('info')) return
  const durationMs = Math.round((performance.now() - startedAt) * 10) / 10
  log.info({ ...fields, path, durationMs }, 'request')
}

export function logAccess(log: Log, trustProxy: number): MiddlewareHandler {
  return async function accessLog(context, next) {
    const requestId = chooseRequestId(context.req.header('x-request-id'), trustProxy)
    const startedAt = performance.now()
    await runWithRequestId(requestId, async () => {
      await runAsCaller(visitorKeyOf(context, trustProxy), next)
      const { method, path } = context.req
      logRequest(log, { method, path, status: context.res.status, startedAt })
    })
    context.res.headers.set('x-request-id', requestId)
  }
}
