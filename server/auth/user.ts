/** GET and PUT /user: the signed-in person's own account. */
import { Hono } from 'hono'
import { z } from 'zod'
import type { Bucket } from '#server/access/token-bucket.ts'
import type { Scope } from '#server/database/scope.ts'
import { confirmEmail, findAccount, hasVerifiedFactor } from './accounts.ts'
import { AuthError } from './errors.ts'
import { beginEmailChange, changeEmail, type EmailChange } from './email-change.ts'
import { addressBucket, mailBuckets, passwordBucket, enforceRateLimits } from './rate-limits.ts'
import { type OutgoingMail, sendAndWait } from './mail-codes.ts'
import { voidCodes } from './one-time-codes.ts'
import { hashPassword, isRightPassword, requireAcceptablePassword } from './passwords.ts'
import { isFreeForSignUp } from './pending-accounts.ts'
import { challengeMembers, readChallenge } from './pkce.ts'
import { requireReauthentication } from './reauthenticate.ts'
import { chooseRedirect } from './redirects.ts'
import { contact, metadata, optionalText, readBody, requireEmail, type Visitor, visitorOf } from './request.ts'
import { requireSession, type SignedIn } from './require-session.ts'
import { mergeMetadata } from './metadata.ts'
import type { AuthService } from './service.ts'
import { userAnswer } from './user-answer.ts'

const userBody = z.object({
  ...contact,
  password: z.string().nullish(),
  current_password: optionalText,
  nonce: optionalText,
  data: metadata,
  app_metadata: z.unknown().optional(),
  ...challengeMembers,
})
type UserBody = z.output<typeof userBody>

export function userRoutes(service: AuthService): Hono {
  const app = new Hono()

  app.get('/user', async (context) => {
    const { account } = await requireSession(context, service)
    return context.json(userAnswer(account))
  })

  app.put('/user', async (context) => {
    const { settings } = service
    const person = await requireSession(context, service)
    const body = await readBody(context, userBody)
    const visitor = visitorOf(context, settings)
    await enforceRateLimits(service, [addressBucket('user', visitor)])
    requireChangeable(body, person)
    const email = requireNewEmail(body, person)
    const change = {
      email,
      pkce: readChallenge(body),
      redirectTo: chooseRedirect(context.req.query('redirect_to'), settings),
    }
    const passwordHash = body.password == null ? undefined : await hashNewPassword(service, body, person, visitor)
    if (email !== '') {
      await enforceRateLimits(service, emailChangeBuckets(service, person, email))
    }

    const { account, mails } = await service.database.asAuth(async (scope) => {
      if (passwordHash !== undefined) await changePassword(scope, person, passwordHash)
      const written = email === '' ? [] : await startEmailChange(scope, service, person, change)
      await mergeMetadata(scope, person.account.id, { user: body.data })
      return { account: await findAccount(scope, person.account.id), mails: written }
    })
    for (const mail of mails) await sendAndWait(service, mail)
    if (account === undefined) throw new AuthError('user_not_found', 'User from sub claim in JWT does not exist')
    return context.json(userAnswer(account))
  })

  return app
}

function requireChangeable(body: UserBody, { account, aal }: SignedIn): void {
  const { email, phone, password, app_metadata: appMetadata } = body
  // Comes first, because a person with only one of two factors may not learn anything about the account.
  if (aal === 'aal1' && hasVerifiedFactor(account) && (email !== '' || phone !== '' || password != null)) {
    const message = 'AAL2 session is required to update email or password when MFA is enabled.'
    throw new AuthError('insufficient_aal', message, { status: 401 })
  }
  if (account.is_sso_user && (email !== '' || phone !== '' || password != null)) {
    const message = 'Updating email, phone, password of a SSO account only possible via SSO'
    throw new AuthError('user_sso_managed', message)
  }
  if (appMetadata != null) throw new AuthError('not_admin', 'Updating app_metadata requires admin privileges')
  if (phone !== '') throw new AuthError('phone_provider_disabled', 'Unsupported phone provider')
  if (password != null && email === '' && account.email === null) {
    const message = 'Updating password of an anonymous user without an email or phone is not allowed'
    throw new AuthError('validation_failed', message, { status: 422 })
  }
}

/** Empty without a change. */
function requireNewEmail({ email }: UserBody, { account }: SignedIn): string {
  if (email === '') return ''
  const normalised = requireEmail(email)
  return normalised === account.email ? '' : normalised
}

function emailChangeBuckets(service: AuthService, { account }: SignedIn, email: string): Bucket[] {
  return [
    ...mailBuckets(service, 'email_change_new', email),
    ...(account.email === null ? [] : mailBuckets(service, 'email_change_current', account.email)),
  ]
}

/** Without confirmation mails, the first address of an account is accepted as at a sign-up. */
async function startEmailChange(
  scope: Scope,
  service: AuthService,
  { account }: SignedIn,
  change: EmailChange,
): Promise<OutgoingMail[]> {
  if (!account.is_anonymous || !service.settings.autoconfirm) return beginEmailChange(scope, service, account, change)
  if (!(await isFreeForSignUp(scope, { email: change.email, provenHash: null }))) {
    throw new AuthError('email_exists', 'A user with this email address has already been registered')
  }
  await changeEmail(scope, account.id, change.email)
  await confirmEmail(scope, account.id, { isAssumed: true })
  return []
}

async function hashNewPassword(
  service: AuthService,
  { password, current_password: currentPassword, nonce }: UserBody,
  person: SignedIn,
  visitor: Visitor,
): Promise<string> {
  const { account } = person
  const next = password ?? ''
  requireAcceptablePassword(next, service.settings)
  if (currentPassword !== '') {
    await enforceRateLimits(service, [passwordBucket(account.email ?? '', visitor, true)])
    if (!(await isRightPassword(account.encrypted_password, currentPassword))) {
      throw new AuthError('invalid_credentials', 'The current password is not right')
    }
  }
  if (await isRightPassword(account.encrypted_password, next)) {
    throw new AuthError('same_password', 'New password should be different from the old password.')
  }
  await requireReauthentication(service, person, { nonce, visitor })
  return hashPassword(next)
}

async function changePassword(scope: Scope, { account, sessionId }: SignedIn, passwordHash: string): Promise<void> {
  await voidCodes(scope, account.id)
  await scope.query(
    `update auth.users set encrypted_password = $2, raw_app_meta_data = raw_app_meta_data - 'needs_password', updated_at = now()
     where id = $1`,
    [account.id, passwordHash],
  )
  await scope.query('delete from auth.sessions where user_id = $1 and id <> $2', [account.id, sessionId])
}
