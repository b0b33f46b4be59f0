/** Mounts each service at its path. */
import { Hono, type MiddlewareHandler } from 'hono'
import { logAccess } from './access/access-log.ts'
import { requirePerson, type SignedIn } from './access/authenticate.ts'
import type { TokenVerifier } from './access/tokens.ts'
import { limitBody } from './api/read-body.ts'
import { renderApiError } from './api/render-error.ts'
import { AppError } from './base/errors.ts'
import type { Log } from './base/log.ts'
import type { createRestRoutes } from './rest/routes.ts'
import type { createStorageRoutes } from './storage/routes.ts'

interface ServiceEdges {
  readonly auth: Hono
  readonly rest: ReturnType<typeof createRestRoutes>
  readonly realtime: Hono
  readonly storage: ReturnType<typeof createStorageRoutes>
  readonly mailbox: Hono
}

interface ProductEdges {
  readonly page: Hono
  readonly documents: Hono<SignedIn>
  readonly api: readonly Hono<SignedIn>[]
  /** Apart from `api`: a recording exceeds the body limit there. */
  readonly voice: Hono<SignedIn>
}

interface Edges {
  readonly operations: Hono
  /** Undefined: this process does not run them. */
  readonly services: ServiceEdges | undefined
  readonly product: ProductEdges | undefined
}

export function createApp(
  { operations, services, product }: Edges,
  { tokens, log, address, trustProxy = 0 }: { tokens: TokenVerifier; log: Log; address: string; trustProxy?: number },
): Hono {
  const app = new Hono()
  const isEncrypted = address.startsWith('https:')
  app.onError(renderApiError(log))
  app.use(logAccess(log, trustProxy))
  app.use(async (context, next) => {
    await next()
    // `context.header` would rebuild the response and turn its body into a stream.
    context.res.headers.set('x-content-type-options', 'nosniff')
    // `includeSubDomains` is for the operator to decide.
    if (isEncrypted) context.res.headers.set('strict-transport-security', 'max-age=31536000')
    // A cookie authenticates these responses too, so shared caches must not store them.
    if (context.req.path.startsWith('/api/') && !context.res.headers.has('cache-control'))
      context.res.headers.set('cache-control', 'no-store')
  })
  if (services) {
    app.route('/auth/v1', services.auth)
    app.route('/rest/v1', services.rest)
    app.route('/realtime/v1', services.realtime)
    app.route('/storage/v1', services.storage)
  }
  if (product) mountApi(app, product, requirePerson(tokens, address), log)
  app.route('/', operations)
  if (services) app.route('/', services.mailbox)
  if (product) app.route('/', product.page)
  return app
}

function mountApi(app: Hono, product: ProductEdges, person: MiddlewareHandler<SignedIn>, log: Log): void {
  // Only uploads, at `/api/documents` itself, may be large.
  app.use('/api/documents/:id', limitBody)
  app.route('/api/documents', product.documents)

  app.route('/api', product.voice)

  const api = new Hono<SignedIn>()
  api.onError(renderApiError(log))
  api.use(person, limitBody)
  for (const routes of product.api) api.route('/', routes)
  api.all('*', () => {
    throw new AppError('not_found', 'There is nothing at this address.')
  })
  app.route('/api', api)
}
