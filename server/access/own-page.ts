import type { Context } from 'hono'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Whether `origin` matches `host` or, for proxies that change `host`, the public address. Where the public address is
 * https, a page that came over http is our own only from this machine: others may have written it on its way.
 */
export function isFromOwnPage(context: Context, address: string): boolean {
  const header = context.req.header('origin')
  if (header === undefined || !URL.canParse(header)) return false
  const site = context.req.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin') return false
  const origin = new URL(header)
  const own = new URL(address)
  if (own.protocol === 'https:' && origin.protocol !== 'https:' && !LOOPBACK.has(origin.hostname)) return false
  return origin.host === context.req.header('host') || origin.origin === own.origin
}
