import type { Context, MiddlewareHandler } from 'hono'

export function hasBody({ req }: Context): boolean {
  return req.header('transfer-encoding') !== undefined || Number(req.header('content-length') ?? 0) > 0
}

const CREDENTIALS = ['authorization', 'apikey', 'cookie']

/**
 * Receives the whole body before the token is checked: a session may end while its client sends slowly. Routes find the
 * text in the request. For bodies of bounded size, except files. Without any credentials there is no session that may
 * end, and a route that needs one refuses at once.
 */
export const receiveBody: MiddlewareHandler = async (context, next) => {
  if (hasBody(context) && CREDENTIALS.some((name) => context.req.header(name) !== undefined)) await context.req.text()
  await next()
}
