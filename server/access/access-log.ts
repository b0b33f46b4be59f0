import { randomUUID } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import type { Log } from '#server/base/log.ts'
import { runWithRequestId } from '#server/base/request-id.ts'

const REQUEST_ID = /^[\w.:-]{1,128}$/
/** Monitoring requests these every few seconds. */
const UNLOGGED_PATHS = new Set(['/healthz', '/metrics'])

const loggedPath = (path: string): string => path.replace(/^(\/storage\/v1\/[^/]+)\/.*/s, '$1/…')

/** Behind a trusted proxy, uses the id of its `x-request-id`. */
export function logAccess(log: Log, trustProxy: number): MiddlewareHandler {
  return async function accessLog(context, next) {
    const given = trustProxy > 0 ? context.req.header('x-request-id') : undefined
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID()
    const startedAt = performance.now()
    await runWithRequestId(requestId, next)
    context.res.headers.set('x-request-id', requestId)
    const { method, path } = context.req
    if (UNLOGGED_PATHS.has(path) || !log.isLevelEnabled('info')) return
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10
    log.info({ requestId, method, path: loggedPath(path), status: context.res.status, durationMs }, 'request')
  }
}
