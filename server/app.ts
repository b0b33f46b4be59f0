/** Mounts each edge at its path, nothing else. */
import { Hono } from 'hono'
import { requirePerson, type SignedIn } from './access/authenticate.ts'
import { type Tokens } from './access/tokens.ts'
import { limitBody } from './api/read-body.ts'
import { renderApiError } from './api/render-error.ts'
import { AppError } from './base/errors.ts'
import { type Log } from './base/log.ts'
import { type createRestRoutes } from './rest/routes.ts'
import { type createStorageRoutes } from './storage/routes.ts'

interface Edges {
  readonly auth: Hono
  readonly rest: ReturnType<typeof createRestRoutes>
  readonly realtime: Hono
  readonly storage: ReturnType<typeof createStorageRoutes>
  readonly mailbox: Hono
  readonly operations: Hono
  readonly page: Hono
  /** Routes below `/api`, all for people who are signed in. */
  readonly documents: Hono<SignedIn>
  readonly api: readonly Hono<SignedIn>[]
  /** As those of `api`, but takes a recording, which is larger than other bodies. */
  readonly voice: Hono<SignedIn>
}

export function createApp(edges: Edges, { tokens, log }: { tokens: Tokens; log: Log }): Hono {
  const app = new Hono()
  app.onError(renderApiError(log))
  app.use(async (context, next) => {
    await next()
    context.header('x-content-type-options', 'nosniff')
  })
  app.route('/auth/v1', edges.auth)
  app.route('/rest/v1', edges.rest)
  app.route('/realtime/v1', edges.realtime)
  app.route('/storage/v1', edges.storage)
  // What comes to one document is small; only an upload, at the address of them all, is not.
  app.use('/api/documents/:id', limitBody)
  app.route('/api/documents', edges.documents)

  app.route('/api', edges.voice)

  const api = new Hono<SignedIn>()
  api.onError(renderApiError(log))
  api.use(requirePerson(tokens), limitBody)
  for (const routes of edges.api) api.route('/', routes)
  api.all('*', () => {
    throw new AppError('not_found', 'There is nothing at this address.')
  })
  app.route('/api', api)

  app.route('/', edges.operations)
  app.route('/', edges.mailbox)
  app.route('/', edges.page)
  return app
}
