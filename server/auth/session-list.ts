/** /sessions: lists and ends sessions of a person. An addition to the GoTrue protocol. */
import { Hono } from 'hono'
import type { OpenSession } from '#contract/auth.ts'
import type { Scope } from '#server/database/scope.ts'
import { AuthError } from './errors.ts'
import { requireFullLevel, requireSession, type SignedIn } from './require-session.ts'
import type { AuthService } from './service.ts'
import { sessionIsIdle, sessionHasExpired } from './sessions.ts'

export function sessionRoutes(service: AuthService): Hono {
  const app = new Hono()

  app.get('/sessions', async (context) => {
    const person = requireFullLevel(await requireSession(context, service))
    return context.json(await service.database.asAuth((scope) => listSessions(scope, person, service.settings)))
  })

  app.delete('/sessions/:id', async (context) => {
    const { account } = requireFullLevel(await requireSession(context, service))
    const ended = await service.database.asAuth((scope) =>
      scope.query('delete from auth.sessions where id::text = $1 and user_id = $2', [
        context.req.param('id'),
        account.id,
      ]),
    )
    if (ended.rowCount !== 1) {
      throw new AuthError('session_not_found', 'There is no such session', { status: 404 })
    }
    return context.body(null, 204)
  })

  return app
}

/** The requesting session comes first. */
async function listSessions(
  scope: Scope,
  { account, sessionId }: SignedIn,
  { sessionDays, sessionIdleDays }: AuthService['settings'],
): Promise<OpenSession[]> {
  const { rows } = await scope.query<Omit<OpenSession, 'created_at' | 'used_at'> & { created_at: Date; used_at: Date }>(
    `select id, created_at, coalesce(refreshed_at, updated_at) as used_at, user_agent, host(ip) as address, aal,
       id = $2 as is_current
     from auth.sessions s
     where user_id = $1 and not ${sessionHasExpired({ days: '$3' })} and not ${sessionIsIdle({ days: '$4' })}
     order by is_current desc, used_at desc`,
    [account.id, sessionId, sessionDays, sessionIdleDays],
  )
  return rows.map(({ created_at, used_at, ...rest }) => ({
    ...rest,
    created_at: created_at.toISOString(),
    used_at: used_at.toISOString(),
  }))
}
