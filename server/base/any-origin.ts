/** Any origin may read these responses: a token authenticates the caller, never a cookie. */
import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'

type Options = Omit<NonNullable<Parameters<typeof cors>[0]>, 'origin' | 'credentials'>

export function allowAnyOrigin(options: Options): MiddlewareHandler {
  const answerPreflight = cors({ ...options, origin: '*' })
  const exposed = (options.exposeHeaders ?? []).join(',')
  return async function openToAnyOrigin(context, next) {
    if (context.req.method === 'OPTIONS') return answerPreflight(context, next)
    await next()
    // `context.header` would rebuild the response and turn its body into a stream.
    context.res.headers.set('Access-Control-Allow-Origin', '*')
    if (exposed !== '') context.res.headers.set('Access-Control-Expose-Headers', exposed)
    return undefined
  }
}
