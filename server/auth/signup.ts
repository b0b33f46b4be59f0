/** POST /signup: creates an account with e-mail and password, confirmed by a mailed link. */
import { Hono } from 'hono'
import { z } from 'zod'
import { confirmEmail, createAnonymousAccount, findAccount, requireAccount } from './accounts.ts'
import { AuthError } from './errors.ts'
import { addressBucket, anonymousBucket, mailBuckets, enforceRateLimits } from './rate-limits.ts'
import { alreadyRegisteredMail } from './mail/templates.ts'
import { issueMailCode, sendAndWait } from './mail-codes.ts'
import { hashPassword, isRightPassword, requireAcceptablePassword } from './passwords.ts'
import { type AddressClaim, claimAddress, findPendingHash, isFreeForSignUp } from './pending-accounts.ts'
import { type Challenge, challengeMembers, readChallenge } from './pkce.ts'
import { chooseRedirect } from './redirects.ts'
import { contact, metadata, optionalText, readBody, requireEmail, type Visitor, visitorOf } from './request.ts'
import type { AuthService } from './service.ts'
import { grantSession } from './session-answer.ts'
import { openSession } from './sessions.ts'
import { storeSignupClaim } from './signup-claims.ts'
import { emptyUserAnswer, newUserAnswer } from './user-answer.ts'

const signupBody = z.object({ ...contact, password: optionalText, data: metadata, ...challengeMembers })
type SignupBody = z.output<typeof signupBody>

export function signupRoutes(service: AuthService): Hono {
  const { settings } = service
  const app = new Hono()
  app.post('/signup', async (context) => {
    const body = await readBody(context, signupBody)
    if (body.email === '' && body.phone === '' && settings.anonymous && settings.signup === 'open') {
      return context.json(
        await grantSession(context, service, await signUpAnonymously(service, body, visitorOf(context, settings))),
      )
    }
    const email = requireSignup(body, service)
    const pkce = readChallenge(body)
    const visitor = visitorOf(context, settings)
    const mailBucket = settings.autoconfirm ? [] : mailBuckets(service, 'confirmation', email)
    await enforceRateLimits(service, [addressBucket('signup', visitor), ...mailBucket])

    const candidate = await prepareClaim(service, email, body)
    if (settings.autoconfirm) {
      return context.json(await grantSession(context, service, await signUpConfirmed(service, candidate, visitor)))
    }
    const redirectTo = chooseRedirect(context.req.query('redirect_to'), settings)
    return context.json(await signUpByMail(service, candidate, { pkce, redirectTo }))
  })
  return app
}

/** Returns the normalised address. */
function requireSignup({ email, phone, password }: SignupBody, { settings }: AuthService): string {
  if (settings.signup !== 'open') throw new AuthError('signup_disabled', 'Signups not allowed for this instance')
  if (email === '' && phone === '') {
    throw new AuthError('anonymous_provider_disabled', 'Anonymous sign-ins are disabled')
  }
  if (password === '') throw new AuthError('validation_failed', 'Signup requires a valid password')
  if (email !== '' && phone !== '') {
    const message = 'Only an email address or phone number should be provided on signup.'
    throw new AuthError('validation_failed', message)
  }
  if (email === '') throw new AuthError('phone_provider_disabled', 'Phone signups are disabled')
  const address = requireEmail(email)
  requireAcceptablePassword(password, settings)
  return address
}

async function signUpAnonymously(service: AuthService, { password, data }: SignupBody, visitor: Visitor) {
  if (password !== '') throw new AuthError('validation_failed', 'Signup with a password requires an email')
  await enforceRateLimits(service, [anonymousBucket(visitor)])
  return service.database.asAuth(async (scope) => {
    const id = await createAnonymousAccount(scope, data)
    return openSession(scope, await requireAccount(scope, id), { method: 'anonymous', visitor })
  })
}

/** A repeated sign-up is recognised by its password. Takes equal time for every address. */
async function prepareClaim(
  { database }: AuthService,
  email: string,
  { password, data }: SignupBody,
): Promise<AddressClaim & { passwordHash: string }> {
  const known = await database.asAuth((scope) => findPendingHash(scope, email))
  const [passwordHash, isKnown] = await Promise.all([hashPassword(password), isRightPassword(known, password)])
  return { email, passwordHash, provenHash: isKnown ? known : null, data }
}

async function signUpConfirmed({ database }: AuthService, candidate: AddressClaim, visitor: Visitor) {
  const grant = await database.asAuth(async (scope) => {
    if (!(await isFreeForSignUp(scope, candidate))) return undefined
    const id = await claimAddress(scope, candidate)
    if (id === undefined) return undefined
    await confirmEmail(scope, id, { isAssumed: true })
    await scope.query('update auth.users set last_sign_in_at = now() where id = $1', [id])
    const account = await findAccount(scope, id)
    return account && openSession(scope, account, { method: 'password', visitor })
  })
  if (grant === undefined) throw new AuthError('user_already_exists', 'User already registered')
  return grant
}

/** Always sends a mail and waits for it, so that the time does not reveal a taken address. */
async function signUpByMail(
  service: AuthService,
  candidate: AddressClaim & { passwordHash: string },
  delivery: { pkce: Challenge | undefined; redirectTo: URL },
) {
  const { database, settings } = service
  const { email, passwordHash } = candidate
  const { isTaken, answeredId, message } = await database.asAuth(async (scope) => {
    const pendingId = await claimAddress(scope, candidate)
    const id = await storeSignupClaim(scope, { email, passwordHash, pendingId })
    const issued = await issueMailCode(scope, service, { kind: 'confirmation', email, userId: pendingId, ...delivery })
    return { isTaken: pendingId === undefined, answeredId: id, message: issued.message }
  })
  const outgoing = isTaken ? alreadyRegisteredMail(`${settings.siteUrl}/login`) : message
  await sendAndWait(service, { kind: 'confirmation', email, message: outgoing })
  return isTaken && settings.signupRevealsAccounts
    ? emptyUserAnswer(candidate)
    : newUserAnswer(service.keys.answers, candidate, answeredId)
}
