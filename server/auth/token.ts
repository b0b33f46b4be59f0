/** POST /token: grants `password`, `pkce`, `id_token` and `refresh_token`. */
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { Scope } from '#server/database/scope.ts'
import { refundAttempt } from '#server/access/token-bucket.ts'
import { type Account, findAccount, findAccountByEmail, requireUsable } from './accounts.ts'
import { AuthError, OAuthError } from './errors.ts'
import { signInWithIdToken } from './id-token.ts'
import { addressBucket, passwordBucket, enforceRateLimits } from './rate-limits.ts'
import { hashPassword, isOutdatedHash, isRightPassword, weaknessOf } from './passwords.ts'
import { useAuthCode } from './pkce.ts'
import { refresh } from './refresh.ts'
import { contact, isEmail, normaliseEmail, optionalText, readBody, type Visitor, visitorOf } from './request.ts'
import type { AuthService } from './service.ts'
import { grantSession } from './session-answer.ts'
import { type Grant, openSession } from './sessions.ts'

const passwordBody = z.object({ ...contact, password: optionalText })
const pkceBody = z.object({ auth_code: optionalText, code_verifier: optionalText })
const refreshBody = z.object({ refresh_token: optionalText })

/** A client address counts as familiar this long after a sign-in. */
const FAMILIAR_ADDRESS_PERIOD = '30 days'

export function tokenRoutes(service: AuthService): Hono {
  const grants: Record<string, (context: Context, visitor: Visitor) => Promise<Response>> = {
    async password(context, visitor) {
      const { email, password } = requirePasswordLogin(await readBody(context, passwordBody))
      const grant = await signInWithPassword(service, { email, password, visitor })
      const answer = await grantSession(context, service, grant)
      const weakness = weaknessOf(password, service.settings)
      return context.json(weakness === undefined ? answer : { ...answer, weak_password: weakness })
    },
    async refresh_token(context, visitor) {
      const { refresh_token: token } = await readBody(context, refreshBody)
      if (token === '') throw new OAuthError('invalid_request', 'refresh_token required')
      await enforceRateLimits(service, [addressBucket('token', visitor)])
      return context.json(await grantSession(context, service, await refresh(service, token, visitor)))
    },
    async pkce(context, visitor) {
      const { auth_code: code, code_verifier: verifier } = await readBody(context, pkceBody)
      if (code === '' || verifier === '') {
        const message = 'invalid request: both auth code and code verifier should be non-empty'
        throw new AuthError('validation_failed', message)
      }
      await enforceRateLimits(service, [addressBucket('token', visitor)])
      const grant = await service.database.asAuth(async (scope) => {
        const { account, ...flow } = await useAuthCode(scope, { code, verifier })
        return openSession(scope, account, { ...flow, visitor })
      })
      return context.json(await grantSession(context, service, grant))
    },
    async id_token(context, visitor) {
      return context.json(await grantSession(context, service, await signInWithIdToken(context, service, visitor)))
    },
  }

  const app = new Hono()
  app.post('/token', async (context) => {
    const type = context.req.query('grant_type') ?? ''
    const grant = Object.hasOwn(grants, type) ? grants[type] : undefined
    if (grant === undefined) throw new AuthError('invalid_credentials', 'unsupported_grant_type')
    return grant(context, visitorOf(context, service.settings))
  })
  return app
}

function requirePasswordLogin({ email, phone, password }: z.output<typeof passwordBody>) {
  if (email !== '' && phone !== '') {
    const message = 'Only an email address or phone number should be provided on login.'
    throw new AuthError('validation_failed', message)
  }
  if (phone !== '') throw new AuthError('phone_provider_disabled', 'Phone logins are disabled')
  if (email === '') throw new AuthError('validation_failed', 'missing email or phone')
  return { email: normaliseEmail(email), password }
}

interface PasswordLogin {
  readonly email: string
  readonly password: string
  readonly visitor: Visitor
}

/** An unknown address and a wrong password take equal statements, one hash and one answer. */
async function signInWithPassword(service: AuthService, { email, password, visitor }: PasswordLogin): Promise<Grant> {
  const { database } = service
  const { account, isFamiliar, claimedHash } = await database.asAuth((scope) => findForLogin(scope, email, visitor))
  const failures = passwordBucket(email, visitor, isFamiliar)
  await enforceRateLimits(service, [addressBucket('token', visitor), failures])

  const isRight = await isRightPassword(account?.encrypted_password, password)
  const isConfirmed = account !== undefined && account.confirmed_at !== null
  const isSettled = claimedHash === null || (isRight && isConfirmed)
  // A sign-up with a taken address is answered like one that was not confirmed.
  const isClaim = !isSettled && (await isRightPassword(claimedHash, password))
  if (isClaim) {
    await database.asAuth((scope) => refundAttempt(scope, failures.key))
    throw new AuthError('email_not_confirmed', 'Email not confirmed')
  }
  if (account === undefined || !isRight) throw new AuthError('invalid_credentials', 'Invalid login credentials')
  requireUsable(account, { status: 400 })
  const renewedHash = isOutdatedHash(account.encrypted_password) ? await hashPassword(password) : null
  const grant = await database.asAuth(async (scope) => {
    await refundAttempt(scope, failures.key)
    return isConfirmed ? openAfterPassword(scope, account, visitor, renewedHash) : undefined
  })
  if (!isConfirmed) throw new AuthError('email_not_confirmed', 'Email not confirmed')
  if (grant === undefined) throw new AuthError('invalid_credentials', 'Invalid login credentials')
  return grant
}

async function findForLogin(scope: Scope, typed: string, { address }: Visitor) {
  // An invalid address is handled like an unknown one.
  const email = isEmail(typed) ? typed : ''
  const account = await findAccountByEmail(scope, email)
  const found = await scope.prepared<{ is_familiar: boolean; claimed_hash: string | null }>(
    `select exists (
         select from auth.sessions s join auth.users u on u.id = s.user_id
         where lower(u.email) = $1 and s.ip = $2 and coalesce(s.refreshed_at, s.created_at) > now() - $3::interval
       ) as is_familiar,
       (select password_hash from auth.signup_claims where email = $1) as claimed_hash`,
    [email, address ?? null, FAMILIAR_ADDRESS_PERIOD],
  )
  const known = found.rows[0]
  return { account, isFamiliar: known?.is_familiar === true, claimedHash: known?.claimed_hash ?? null }
}

/** Undefined if the password changed meanwhile. */
async function openAfterPassword(
  scope: Scope,
  account: Account,
  visitor: Visitor,
  renewedHash: string | null,
): Promise<Grant | undefined> {
  const signedIn = await scope.prepared(
    `update auth.users set last_sign_in_at = now(), encrypted_password = coalesce($3, encrypted_password)
     where id = $1 and encrypted_password = $2`,
    [account.id, account.encrypted_password, renewedHash],
  )
  const current = signedIn.rowCount === 1 ? await findAccount(scope, account.id) : undefined
  return current && openSession(scope, current, { method: 'password', visitor })
}
