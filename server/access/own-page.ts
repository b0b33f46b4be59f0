import { type Context } from 'hono'

/**
 * Whether a page of ours made the request, as the browser says in `origin`: under the name by which it was asked for, or
 * under the address that people know, where a proxy puts its own name into `host`.
 * @param address where people reach this server.
 */
export function isFromOwnPage(context: Context, address: string): boolean {
  const origin = context.req.header('origin')
  if (origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === context.req.header('host') || new URL(origin).origin === new URL(address).origin
}
