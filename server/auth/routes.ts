/** The auth service at /auth/v1 implements the GoTrue protocol of `supabase.auth`. */
import { Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { receiveBody } from '#server/access/receive-body.ts'
import { ssoRoutes } from '#server/auth/sso/sso.ts'
import { allowAnyOrigin } from '#server/base/any-origin.ts'
import { adminUserRoutes } from './admin-users.ts'
import { authorizeRoutes } from './authorize.ts'
import { closeAccountRoutes } from './close-account.ts'
import { AuthError } from './errors.ts'
import { recordEvents } from './event-log.ts'
import { factorRoutes } from './factors.ts'
import { identityRoutes } from './identities.ts'
import { invitationRoutes } from './invitations.ts'
import { logoutRoutes } from './logout.ts'
import { mailRequestRoutes } from './mail-requests.ts'
import { reauthenticationRoutes } from './reauthenticate.ts'
import { recoveryCodeRoutes } from './recovery-codes.ts'
import { renderError, requestedVersion, VERSION_HEADER } from './render-error.ts'
import type { AuthService } from './service.ts'
import { sessionRoutes } from './session-list.ts'
import { settingsRoutes } from './settings.ts'
import { signupRoutes } from './signup.ts'
import { tokenRoutes } from './token.ts'
import { userRoutes } from './user.ts'
import { verifyRoutes } from './verify.ts'

const MAX_BODY_BYTES = 1024 * 1024

// All origins are allowed because requests are authorised by token, not by cookie.
const openToAllOrigins = allowAnyOrigin({
  allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  allowHeaders: [
    'authorization', 'apikey', 'content-type', 'x-client-info', VERSION_HEADER, 'prefer', 'range', 'range-unit',
    'accept-profile', 'content-profile', 'accept', 'x-upsert', 'cache-control', 'x-metadata',
  ], // prettier-ignore
  exposeHeaders: [
    'Content-Range', 'Content-Location', 'Location', 'Preference-Applied', 'X-Total-Count', 'Link',
    'X-Supabase-Api-Version', 'Retry-After',
  ], // prettier-ignore
  maxAge: 3600,
})

/** Paths of requests that may end sessions: once they are answered, no request of such a session passes. */
const ENDS_SESSIONS = /\/auth\/v1\/(?:logout|sessions\/|user$|factors\/|account\/close|admin\/users\/)/

interface AuthRouteOptions {
  /** Limits the requests of each caller; undefined: does not. */
  readonly takeTurn?: MiddlewareHandler | undefined
  /** Waits until this node knows which sessions have ended; undefined: where there is no other service to refuse them. */
  readonly catchUp?: (() => Promise<void>) | undefined
}

export function createAuthRoutes(service: AuthService, { takeTurn, catchUp }: AuthRouteOptions = {}): Hono {
  const app = new Hono()
  app.onError((error, context) => renderError(error, context, service.log))

  app.use(recordEvents(service))
  app.use(openToAllOrigins)
  app.use(async function prepareAnswer(context, next) {
    const version = requestedVersion(context)
    // The client reads `code` as an error name only if the response repeats the requested version.
    if (version !== undefined) context.header(VERSION_HEADER, version)
    context.header('cache-control', 'no-store')
    await next()
  })
  if (takeTurn) app.use(takeTurn)
  if (catchUp) {
    app.use(async ({ req }, next) => {
      await next()
      if (req.method !== 'GET' && ENDS_SESSIONS.test(req.path)) await catchUp()
    })
  }
  app.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError(context) {
        // The connection cannot be reused because the rest of the body is unread.
        context.header('connection', 'close')
        throw new AuthError('request_entity_too_large', 'Request body is larger than 1 MB')
      },
    }),
    receiveBody,
  )

  app.route('/', signupRoutes(service))
  app.route('/', tokenRoutes(service))
  app.route('/', verifyRoutes(service))
  app.route('/', userRoutes(service))
  app.route('/', reauthenticationRoutes(service))
  app.route('/', factorRoutes(service))
  app.route('/', recoveryCodeRoutes(service))
  app.route('/', sessionRoutes(service))
  app.route('/', closeAccountRoutes(service))
  app.route('/', authorizeRoutes(service))
  app.route('/', ssoRoutes(service))
  app.route('/', identityRoutes(service))
  app.route('/', adminUserRoutes(service))
  app.route('/', invitationRoutes(service))
  app.route('/', logoutRoutes(service))
  app.route('/', mailRequestRoutes(service))
  app.route('/', settingsRoutes(service))
  app.all('*', () => {
    throw new AuthError('not_found', 'There is no such endpoint')
  })
  return app
}
