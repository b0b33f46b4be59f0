/** GET /reauthenticate: mails a code that confirms a change of the password. */
import { Hono } from 'hono'
import { refundAttempt } from '#server/access/token-bucket.ts'
import { AuthError } from './errors.ts'
import { addressBucket, codeBucket, mailBuckets, enforceRateLimits } from './rate-limits.ts'
import { sendAndWait } from './mail-codes.ts'
import { reauthenticationMail } from './mail/templates.ts'
import { issueCode, useCode } from './one-time-codes.ts'
import { type Visitor, visitorOf } from './request.ts'
import { requireSession, type SignedIn } from './require-session.ts'
import type { AuthService } from './service.ts'

const DAY_MS = 86_400_000

export function reauthenticationRoutes(service: AuthService): Hono {
  const { database, keys, settings } = service
  const app = new Hono()
  app.get('/reauthenticate', async (context) => {
    const { account } = await requireSession(context, service)
    const { id: userId, email } = account
    if (email === null) {
      const message = 'Reauthentication requires the user to have an email or a phone number'
      throw new AuthError('validation_failed', message)
    }
    if (account.email_confirmed_at === null) {
      throw new AuthError('email_not_confirmed', 'Please verify your email first.', { status: 422 })
    }
    const kind = 'reauthentication'
    const visitor = visitorOf(context, settings)
    await enforceRateLimits(service, [addressBucket('reauthenticate', visitor), ...mailBuckets(service, kind, email)])
    const { code } = await database.asAuth((scope) =>
      issueCode(scope, { key: keys.codes, kind: 'reauthentication_token', email, userId }),
    )
    await sendAndWait(service, { kind, email, message: reauthenticationMail(code) })
    return context.json({})
  })
  return app
}

/**
 * Allows a password change with the mailed code, or without one in a session younger than a day or if the operator
 * requires none. A wrong code always fails. @throws AuthError `reauthentication_needed`, `reauthentication_not_valid`.
 */
export async function requireReauthentication(
  service: AuthService,
  { account, openedAt }: SignedIn,
  { nonce, visitor }: { nonce: string; visitor: Visitor },
): Promise<void> {
  const { database, keys, settings } = service
  const email = account.email ?? ''
  if (nonce === '') {
    if (!settings.passwordNeedsNonce || Date.now() - openedAt.getTime() < DAY_MS) return
    // There is no password to protect yet.
    if (account.raw_app_meta_data['needs_password'] === true) return
    throw new AuthError('reauthentication_needed', 'Password update requires reauthentication')
  }
  const guesses = codeBucket(email)
  await enforceRateLimits(service, [addressBucket('verify', visitor), guesses])
  const isRight = await database.asAuth(async (scope) => {
    const used = await useCode(scope, { key: keys.codes, email, code: nonce, kinds: ['reauthentication_token'] })
    if (used === undefined) return false
    await refundAttempt(scope, guesses.key)
    return true
  })
  if (!isRight) throw new AuthError('reauthentication_not_valid', 'Nonce has expired or is invalid')
}
