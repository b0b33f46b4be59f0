/** POST /logout: ends this session, all others, or all. */
import { Hono } from 'hono'
import { AuthError } from './errors.ts'
import { requireSession } from './require-session.ts'
import type { AuthService } from './service.ts'
import { clearSessionCookie } from './session-answer.ts'

const SCOPES = new Set(['global', 'local', 'others'])

export function logoutRoutes(service: AuthService): Hono {
  const app = new Hono()
  app.post('/logout', async (context) => {
    const scope = context.req.query('scope') || 'global'
    if (!SCOPES.has(scope)) throw new AuthError('validation_failed', `Unsupported logout scope "${scope}"`)
    // Comes first: with an invalid token, the page cannot remove the cookie itself.
    if (scope !== 'others') clearSessionCookie(context, service.settings)
    const { account, sessionId } = await requireSession(context, service)
    await service.database.asAuth((auth) =>
      auth.query(`delete from auth.sessions where user_id = $1 and ($3 = 'global' or (id = $2) = ($3 = 'local'))`, [
        account.id,
        sessionId,
        scope,
      ]),
    )
    return context.body(null, 204)
  })
  return app
}
