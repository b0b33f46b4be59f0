/** Mounts each edge at its path, nothing else. */
import { Hono, type MiddlewareHandler } from 'hono'
import { requirePerson, type SignedIn } from './access/authenticate.ts'
import { type TokenVerifier } from './access/tokens.ts'
import { limitBody } from './api/read-body.ts'
import { renderApiError } from './api/render-error.ts'
import { AppError } from './base/errors.ts'
import { type Log } from './base/log.ts'
import { type createRestRoutes } from './rest/routes.ts'
import { type createStorageRoutes } from './storage/routes.ts'

/** `/auth/v1` and its like, and the mailbox of the local set-up. */
interface ServiceEdges {
  readonly auth: Hono
  readonly rest: ReturnType<typeof createRestRoutes>
  readonly realtime: Hono
  readonly storage: ReturnType<typeof createStorageRoutes>
  readonly mailbox: Hono
}

interface ProductEdges {
  readonly page: Hono
  /** Routes below `/api`, all for people who are signed in. */
  readonly documents: Hono<SignedIn>
  readonly api: readonly Hono<SignedIn>[]
  /** As those of `api`, but takes a recording, which is larger than other bodies. */
  readonly voice: Hono<SignedIn>
}

interface Edges {
  readonly operations: Hono
  /** Undefined where this process does not run them. */
  readonly services: ServiceEdges | undefined
  readonly product: ProductEdges | undefined
}

export function createApp(
  { operations, services, product }: Edges,
  { tokens, log, address }: { tokens: TokenVerifier; log: Log; address: string },
): Hono {
  const app = new Hono()
  const isEncrypted = address.startsWith('https:')
  app.onError(renderApiError(log))
  app.use(async (context, next) => {
    await next()
    // Not by `context.header`, which makes the answer anew and turns its body into a stream.
    context.res.headers.set('x-content-type-options', 'nosniff')
    // For this host alone: what else has a name below it is not ours to decide on.
    if (isEncrypted) context.res.headers.set('strict-transport-security', 'max-age=31536000')
    // A cookie opens these answers too, and caches on the way do not know that they are one person's.
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
  // What comes to one document is small; only an upload, at the address of them all, is not.
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
