import { randomUUID } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { runAsCaller } from '#server/base/caller.ts'
import type { Log } from '#server/base/log.ts'
import { runWithRequestId } from '#server/base/request-id.ts'
import { traceOperation } from '#server/base/tracing.ts'
import { visitorKeyOf } from './client-address.ts'

const REQUEST_ID = /^[\w.:-]{1,128}$/
/** Monitoring requests these every few seconds. */
const UNLOGGED_PATHS = new Set(['/healthz', '/metrics'])

/** Behind a trusted proxy, its `x-request-id` is the id. */
export function chooseRequestId(header: unknown, trustProxy: number): string {
  return trustProxy > 0 && typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID()
}

const SERVICE = /^\/(api|auth|rest|realtime|storage)(?:\/v1)?(?:\/|$)/

/** One of the services, the monitoring routes, or the page. */
const serviceOf = (path: string): string =>
  UNLOGGED_PATHS.has(path) ? 'monitoring' : (SERVICE.exec(path)?.[1] ?? 'page')

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
      const { method, path } = context.req
      await traceOperation('request', serviceOf(path), async (describe) => {
        await runAsCaller(visitorKeyOf(context, trustProxy), next)
        const { status } = context.res
        describe({ hasFailed: status >= 500, attributes: { method, status, route: routePath(context) } })
      })
      logRequest(log, { method, path, status: context.res.status, startedAt })
    })
    context.res.headers.set('x-request-id', requestId)
  }
}
