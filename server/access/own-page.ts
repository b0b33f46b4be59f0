import type { Context } from 'hono'

/** Whether `origin` matches `host` or, for proxies that change `host`, the public address. */
export function isFromOwnPage(context: Context, address: string): boolean {
  const origin = context.req.header('origin')
  if (origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === context.req.header('host') || new URL(origin).origin === new URL(address).origin
}
