/** Mounts each service at its path. */
import { Hono, type MiddlewareHandler } from 'hono'
import { logAccess } from './access/access-log.ts'
import { requirePerson, type SignedIn } from './access/authenticate.ts'
import { receiveBody } from './access/receive-body.ts'
import type { TokenVerifier } from './access/tokens.ts'
import type { UnsentAnswers } from './access/unsent-answers.ts'
import { limitBody, requireJson } from './api/read-body.ts'
import { renderApiError } from './api/render-error.ts'
import { INERT_CONTENT_POLICY } from './base/content-policy.ts'
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
  /** Apart from `api`: some people open them without an account. */
  readonly links: Hono
  /** Apart from `api`: a recording exceeds the body limit there. */
  readonly voice: Hono<SignedIn>
}

interface Edges {
  readonly operations: Hono
  /** Undefined: this process does not run them. */
  readonly services: ServiceEdges | undefined
  readonly product: ProductEdges | undefined
  readonly operatorPage?: Hono | undefined
}

interface AppOptions {
  readonly tokens: TokenVerifier
  readonly unsentAnswers: UnsentAnswers
  readonly log: Log
  readonly address: string
  readonly trustProxy?: number
  /** Limits the requests of each caller; undefined: does not. The services mount it themselves. */
  readonly takeTurn?: MiddlewareHandler
}

const SERVICES = /^\/(api|auth\/v1|rest\/v1|realtime\/v1|storage\/v1)(\/|$)/

/** Sets the headers that tell browsers what a response is for, where a route has not set its own. */
function limitBrowsers(isEncrypted: boolean): MiddlewareHandler {
  return async function limitBrowsersOf(context, next) {
    await next()
    const { path } = context.req
    // `context.header` would rebuild the response and turn its body into a stream.
    const { headers } = context.res
    const setDefault = (name: string, value: string) => {
      if (!headers.has(name)) headers.set(name, value)
    }
    headers.set('x-content-type-options', 'nosniff')
    setDefault('referrer-policy', 'no-referrer')
    // `includeSubDomains` is for the operator to decide.
    if (isEncrypted) headers.set('strict-transport-security', 'max-age=31536000')
    // A policy on a script of the page would also bind the worker that runs it.
    if (SERVICES.test(path)) setDefault('content-security-policy', INERT_CONTENT_POLICY)
    // Other sites may show public objects, and read the services by CORS, which this header does not concern.
    if (!path.startsWith('/storage/v1/')) setDefault('cross-origin-resource-policy', 'same-origin')
    // A cookie authenticates these responses too, so shared caches must not store them.
    if (path.startsWith('/api/')) setDefault('cache-control', 'no-store')
  }
}

export function createApp(
  { operations, services, product, operatorPage }: Edges,
  { tokens, unsentAnswers, log, address, trustProxy = 0, takeTurn = (_context, next) => next() }: AppOptions,
): Hono {
  const app = new Hono()
  const isEncrypted = address.startsWith('https:')
  app.onError(renderApiError(log))
  app.use(logAccess(log, trustProxy))
  app.use(limitBrowsers(isEncrypted))
  app.use(unsentAnswers.limit)
  if (services) {
    app.route('/auth/v1', services.auth)
    app.route('/rest/v1', services.rest)
    app.route('/realtime/v1', services.realtime)
    app.route('/storage/v1', services.storage)
  }
  if (product) mountApi(app, product, [takeTurn, requirePerson(tokens, address)], log)
  // These take no turns: a whole office may load the page from one address, and health checks must not wait.
  app.route('/', operations)
  if (services) app.route('/', services.mailbox)
  if (operatorPage) app.route('/', operatorPage)
  if (product) app.route('/', product.page)
  return app
}

function mountApi(
  app: Hono,
  product: ProductEdges,
  [takeTurn, person]: [MiddlewareHandler, MiddlewareHandler<SignedIn>],
  log: Log,
): void {
  // Only uploads, at `/api/documents` itself, may be large.
  app.use('/api/documents/:id', takeTurn, limitBody)
  app.route('/api/documents', product.documents)

  app.route('/api', product.links)
  app.route('/api', product.voice)

  const api = new Hono<SignedIn>()
  api.onError(renderApiError(log))
  api.use(takeTurn, limitBody, receiveBody, person, requireJson)
  for (const routes of product.api) api.route('/', routes)
  api.all('*', () => {
    throw new AppError('not_found', 'There is nothing at this address.')
  })
  app.route('/api', api)
}
