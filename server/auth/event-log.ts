/** Logs each use of an account, rejected or not. No password, code, token or e-mail address is logged. */
import type { Context, MiddlewareHandler } from 'hono'
import { visitorOf } from './request.ts'
import type { AuthService } from './service.ts'

const people = new WeakMap<Request, string>()

export function noteAccount(context: Context, userId: string): void {
  people.set(context.req.raw, userId)
}

/** Only redirects of providers change something by GET, and only in the browser that began. */
const CHANGES_BY_GET = /\/(callback|finish)$/

export function recordEvents({ log, settings }: Pick<AuthService, 'log' | 'settings'>): MiddlewareHandler {
  return async function recordEvent(context, next) {
    await next()
    const { method, path } = context.req
    const isReading = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
    if (isReading && !CHANGES_BY_GET.test(path)) return
    log.info(
      {
        action: `${method} ${path.replace(/^\/auth\/v1/, '')}`,
        grant: context.req.query('grant_type'),
        user: people.get(context.req.raw),
        address: visitorOf(context, settings).address,
        status: context.res.status,
        refused: context.res.headers.get('x-sb-error-code') ?? undefined,
      },
      'an account was used',
    )
  }
}
