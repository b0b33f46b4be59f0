import type { MiddlewareHandler } from 'hono'
import { AppError } from '#server/base/errors.ts'
import { visitorKeyOf } from './client-address.ts'

interface AddressLimit {
  readonly requests: number
  readonly seconds: number
  readonly trustProxy: number
}

/** In this process, for requests that cost little each: guessing is what is limited. @throws AppError `rate_limited` */
export function limitAddress({ requests, seconds, trustProxy }: AddressLimit): MiddlewareHandler {
  let counts = new Map<string, number>()
  let endsAt = 0
  return async function countRequest(context, next) {
    const now = performance.now()
    if (now >= endsAt) {
      counts = new Map()
      endsAt = now + seconds * 1000
    }
    const key = visitorKeyOf(context, trustProxy)
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count > requests) {
      context.header('retry-after', String(Math.ceil((endsAt - now) / 1000)))
      throw new AppError('rate_limited', 'Too many links were tried from this address. Try again in a minute.')
    }
    await next()
  }
}
