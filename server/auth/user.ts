/** GET and PUT /user: the signed-in person's own account. */
import { Hono } from 'hono'
import { z } from 'zod'
import { type Scope } from '#server/database/scope.ts'
import { findAccount, userAnswer } from './accounts.ts'
import { AuthError } from './errors.ts'
import { addressBucket, passwordBucket, requireAttempt } from './limits.ts'
import { voidCodes } from './one-time-codes.ts'
import { hashPassword, isRightPassword, requireAcceptablePassword } from './passwords.ts'
import { contact, metadata, normaliseEmail, optionalText, readBody, type Visitor, visitorOf } from './request.ts'
import { requireSession, type SignedIn } from './require-session.ts'
import { type AuthService } from './service.ts'

const userBody = z.object({
  ...contact,
  password: z.string().nullish(),
  current_password: optionalText,
  data: metadata,
  app_metadata: z.unknown().optional(),
})
type UserBody = z.output<typeof userBody>

export function userRoutes(service: AuthService): Hono {
  const app = new Hono()

  app.get('/user', async (context) => {
    const { account } = await requireSession(context, service)
    return context.json(userAnswer(account))
  })

  app.put('/user', async (context) => {
    const person = await requireSession(context, service)
    const body = await readBody(context, userBody)
    const visitor = visitorOf(context, service.settings)
    await requireAttempt(service, [addressBucket('user', visitor)])
    requireChangeable(body, person)
    const passwordHash = body.password == null ? undefined : await hashNewPassword(service, body, person, visitor)

    const account = await service.database.asAuth(async (scope) => {
      if (passwordHash !== undefined) await changePassword(scope, person, passwordHash)
      await mergeMetadata(scope, person.account.id, body.data)
      return findAccount(scope, person.account.id)
    })
    if (account === undefined) throw new AuthError('user_not_found', 'User from sub claim in JWT does not exist')
    return context.json(userAnswer(account))
  })

  return app
}

function requireChangeable({ email, phone, app_metadata: appMetadata }: UserBody, { account }: SignedIn): void {
  if (appMetadata != null) throw new AuthError('not_admin', 'Updating app_metadata requires admin privileges')
  if (phone !== '') throw new AuthError('phone_provider_disabled', 'Unsupported phone provider')
  if (email !== '' && normaliseEmail(email) !== account.email) {
    throw new AuthError('email_provider_disabled', 'Changing the e-mail address is not available yet')
  }
}

async function hashNewPassword(
  service: AuthService,
  { password, current_password: currentPassword }: UserBody,
  { account }: SignedIn,
  visitor: Visitor,
): Promise<string> {
  const next = password ?? ''
  requireAcceptablePassword(next, service.settings.minPasswordLength)
  if (currentPassword !== '') {
    await requireAttempt(service, [passwordBucket(account.email ?? '', visitor, true)])
    if (!(await isRightPassword(account.encrypted_password, currentPassword))) {
      throw new AuthError('invalid_credentials', 'The current password is not right')
    }
  }
  if (await isRightPassword(account.encrypted_password, next)) {
    throw new AuthError('same_password', 'New password should be different from the old password.')
  }
  return hashPassword(next)
}

/** A key that is null is removed, any other is set; keys that are not named stay. */
async function mergeMetadata(scope: Scope, id: string, data: Readonly<Record<string, unknown>>): Promise<void> {
  const removed = Object.keys(data).filter((name) => data[name] === null)
  await scope.query(
    `update auth.users set raw_user_meta_data = (raw_user_meta_data || $2::jsonb) - $3::text[], updated_at = now()
     where id = $1`,
    [id, JSON.stringify(data), removed],
  )
}

/** Whoever knew the old password is signed out, and no mail that is under way opens the account any more. */
async function changePassword(scope: Scope, { account, sessionId }: SignedIn, passwordHash: string): Promise<void> {
  // Codes before the account, as when one is used: whoever does both at once waits, and is not caught in a deadlock.
  await voidCodes(scope, account.id)
  await scope.query('update auth.users set encrypted_password = $2, updated_at = now() where id = $1', [
    account.id,
    passwordHash,
  ])
  await scope.query('delete from auth.sessions where user_id = $1 and id <> $2', [account.id, sessionId])
}
