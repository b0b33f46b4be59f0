import { type Context } from 'hono'

/**
 * Whether one of our own pages made the request, by `origin`: it matches `host`, or the public address, for proxies that
 * change `host`.
 * @param address public address of this server.
 */
export function isFromOwnPage(context: Context, address: string): boolean {
  const origin = context.req.header('origin')
  if (origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === context.req.header('host') || new URL(origin).origin === new URL(address).origin
}
