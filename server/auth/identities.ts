/** DELETE /user/identities/{id}: unlinks a sign-in provider. */
import { Hono } from 'hono'
import type { Scope } from '#server/database/scope.ts'
import { lockAccount, updateProviderList } from './accounts.ts'
import { AuthError } from './errors.ts'
import { requireFullLevel, requireSession, type SignedIn } from './require-session.ts'
import type { AuthService } from './service.ts'

export function identityRoutes(service: AuthService): Hono {
  const { database, settings } = service
  const app = new Hono()

  app.delete('/user/identities/:id', async (context) => {
    if (!settings.manualLinking) throw new AuthError('manual_linking_disabled', 'Manual linking is disabled')
    const person = requireFullLevel(await requireSession(context, service))
    await database.asAuth((scope) => deleteIdentity(scope, person, context.req.param('id')))
    return context.json({})
  })

  return app
}

async function deleteIdentity(scope: Scope, { account }: SignedIn, identityId: string): Promise<void> {
  // Two concurrent removals must leave one identity.
  await lockAccount(scope, account.id)
  const { rows: identities } = await scope.query<{ id: string }>('select id from auth.identities where user_id = $1', [
    account.id,
  ])
  if (!identities.some(({ id }) => id === identityId)) {
    throw new AuthError('identity_not_found', 'Identity does not exist')
  }
  if (identities.length <= 1) {
    const message = 'User must have at least 1 identity after unlinking'
    throw new AuthError('single_identity_not_deletable', message)
  }
  await scope.query('delete from auth.identities where id = $1', [identityId])
  await updateProviderList(scope, account.id)
}
