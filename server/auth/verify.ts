/** /verify: a mailed link (GET, a page whose button uses it up) or code (POST, returns a session). */
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { refundAttempt } from '#server/access/token-bucket.ts'
import type { Scope } from '#server/database/scope.ts'
import { type Account, confirmEmail, findAccount, requireUsable } from './accounts.ts'
import { confirmEmailChange } from './email-change.ts'
import { AuthError } from './errors.ts'
import { addressBucket, codeBucket, enforceRateLimits } from './rate-limits.ts'
import { renderLinkPage } from './link-page.ts'
import {
  type CodeKind,
  findLink,
  isPkceToken,
  useCode,
  type UsedCode,
  useLinkToken,
  voidCodes,
} from './one-time-codes.ts'
import { dropAccess, requireNewPassword } from './pending-accounts.ts'
import { issueAuthCode } from './pkce.ts'
import { chooseRedirect } from './redirects.ts'
import { writeFailure, writeSession } from './redirect-answer.ts'
import { asAuthError } from './render-error.ts'
import { contact, normaliseEmail, optionalText, readBody, requirePhone, type Visitor, visitorOf } from './request.ts'
import type { AuthService } from './service.ts'
import { describeSession, grantSession } from './session-answer.ts'
import { type Grant, openSession } from './sessions.ts'
import { settleSignupClaim } from './signup-claims.ts'

/** Keys are values of `type` in the protocol. */
const KINDS: Readonly<Record<string, readonly CodeKind[]>> = {
  signup: ['confirmation_token'],
  email: ['confirmation_token', 'recovery_token'],
  magiclink: ['recovery_token'],
  recovery: ['recovery_token'],
  invite: ['confirmation_token'],
  email_change: ['email_change_token_current', 'email_change_token_new'],
}

/** These types always fail: text messages are sent only for second factors. */
const PHONE_TYPES: ReadonlySet<string> = new Set(['sms', 'phone_change'])

const WAITING = 'Confirmation link accepted. Please proceed to confirm link sent to the other email'

const verifyBody = z.object({ ...contact, type: optionalText, token: optionalText, token_hash: optionalText })
type VerifyBody = z.output<typeof verifyBody>

/** Old browsers do not say where a request comes from. */
const OWN_SITES: readonly (string | undefined)[] = [undefined, 'same-origin', 'none']

export function verifyRoutes(service: AuthService): Hono {
  const app = new Hono()

  app.get('/verify', async (context) => {
    const link = readLink(service, context.req.query())
    const found = await service.database.asAuth((scope) => findLink(scope, link.token, link.kinds))
    if (found !== undefined) return renderLinkPage(context, { ...link, ...found })
    await rejectLink(context, service, link)
    return context.redirect(link.target.href, 303)
  })

  app.post('/verify/link', async (context) => {
    const fields = Object.fromEntries(new URLSearchParams(await context.req.text()))
    const link = readLink(service, fields)
    // Another site may lead a browser to a link, but not press its button: the page shows whose link it is.
    if (!OWN_SITES.includes(context.req.header('sec-fetch-site'))) {
      const { token, type, target } = link
      const page = new URLSearchParams({ token, type, redirect_to: target.href })
      return context.redirect(`../verify?${page.toString()}`, 303)
    }
    await followLink(context, service, link)
    return context.redirect(link.target.href, 303)
  })

  app.post('/verify', async (context) => {
    const body = await readBody(context, verifyBody)
    if (PHONE_TYPES.has(body.type)) {
      requirePhone(body.phone)
      throw new AuthError('otp_expired', 'Token has expired or is invalid')
    }
    const kinds = kindsOf(body.type)
    requireOneProof(body)
    const visitor = visitorOf(context, service.settings)
    const grant =
      body.token_hash === ''
        ? await verifyCode(service, { email: normaliseEmail(body.email), code: body.token, kinds, visitor })
        : await verifyTokenHash(service, { token: body.token_hash, kinds, visitor })
    return context.json(
      grant === 'waiting' ? { msg: WAITING, code: '200' } : await grantSession(context, service, grant),
    )
  })

  return app
}

function kindsOf(type: string): readonly CodeKind[] {
  if (type === '') throw new AuthError('validation_failed', 'Verify requires a verification type')
  const kinds = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
  if (kinds === undefined) throw new AuthError('validation_failed', 'Invalid email verification type')
  return kinds
}

function requireOneProof({ token, token_hash: tokenHash, email, phone }: VerifyBody): void {
  if ((token === '') === (tokenHash === '')) {
    throw new AuthError('validation_failed', 'Verify requires either a token or a token hash')
  }
  if (tokenHash !== '' && (email !== '' || phone !== '')) {
    throw new AuthError('validation_failed', 'Only the token_hash and type should be provided')
  }
  if (token !== '' && (email === '' || phone !== '')) {
    throw new AuthError('validation_failed', 'Only an email address should be provided on verify')
  }
}

interface Link {
  readonly token: string
  readonly kinds: readonly CodeKind[]
}

interface MailedLink extends Link {
  readonly type: string
  readonly target: URL
}

function readLink({ settings }: AuthService, fields: Readonly<Record<string, string>>): MailedLink {
  const { token = '', type = '', redirect_to: redirectTo } = fields
  if (token === '') throw new AuthError('validation_failed', 'Verify requires a token or a token hash')
  return { token, type, kinds: kindsOf(type), target: chooseRedirect(redirectTo, settings) }
}

const rejectLink = (context: Context, service: AuthService, link: MailedLink): Promise<void> =>
  attemptLink(context, service, link, () => Promise.reject(invalidLink()))

async function followLink(context: Context, service: AuthService, link: MailedLink): Promise<void> {
  const { token, type, kinds, target } = link
  await attemptLink(context, service, link, async () => {
    const outcome = isPkceToken(token)
      ? await exchangeLinkForCode(service, { token, kinds })
      : await exchangeLinkForSession(service, { token, kinds, visitor: visitorOf(context, service.settings) })
    if (outcome === 'waiting') {
      target.hash = new URLSearchParams({ message: WAITING, sb: '' }).toString()
      if (isPkceToken(token)) target.searchParams.set('message', WAITING)
    } else if ('code' in outcome) target.searchParams.set('code', outcome.code)
    else writeSession(target, await describeSession(context, service, outcome), { type })
  })
}

/** Within the rate limits; the target tells a failure. */
async function attemptLink(
  context: Context,
  service: AuthService,
  { token, target }: MailedLink,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await enforceRateLimits(service, [addressBucket('verify', visitorOf(context, service.settings))])
    await act()
  } catch (error) {
    writeFailure(target, asAuthError(error, context, service.log), { isPkce: isPkceToken(token) })
  }
}

const invalidLink = () => new AuthError('otp_expired', 'Email link is invalid or has expired')

async function exchangeLinkForSession(
  { database }: AuthService,
  { token, kinds, visitor }: Link & { visitor: Visitor },
): Promise<Grant | 'waiting'> {
  const grant = await database.asAuth(async (scope) => {
    const used = await useLinkToken(scope, token, kinds)
    return used && signInByMail(scope, used, visitor)
  })
  if (grant === undefined) throw invalidLink()
  return grant
}

async function exchangeLinkForCode(
  { database }: AuthService,
  { token, kinds }: Link,
): Promise<{ code: string } | 'waiting'> {
  const outcome = await database.asAuth(async (scope) => {
    const used = await useLinkToken(scope, token, kinds)
    if (used?.flowId == null) return undefined
    const account = await confirmByMail(scope, used)
    if (account === undefined || account === 'waiting') return account
    return { code: await issueAuthCode(scope, used.flowId) }
  })
  if (outcome === undefined) throw invalidLink()
  return outcome
}

async function verifyTokenHash(service: AuthService, link: Link & { visitor: Visitor }): Promise<Grant | 'waiting'> {
  await enforceRateLimits(service, [addressBucket('verify', link.visitor)])
  return exchangeLinkForSession(service, link)
}

async function verifyCode(
  service: AuthService,
  { email, code, kinds, visitor }: { email: string; code: string; kinds: readonly CodeKind[]; visitor: Visitor },
): Promise<Grant | 'waiting'> {
  const guesses = codeBucket(email)
  await enforceRateLimits(service, [addressBucket('verify', visitor), guesses])
  const grant = await service.database.asAuth(async (scope) => {
    const used = await useCode(scope, { key: service.keys.codes, email, code, kinds })
    if (used === undefined) return undefined
    await refundAttempt(scope, guesses.key)
    return signInByMail(scope, used, visitor)
  })
  if (grant === undefined) throw new AuthError('otp_expired', 'Token has expired or is invalid')
  return grant
}

async function signInByMail(scope: Scope, used: UsedCode, visitor: Visitor): Promise<Grant | 'waiting' | undefined> {
  const account = await confirmByMail(scope, used)
  return account === undefined || account === 'waiting'
    ? account
    : openSession(scope, account, { method: 'otp', visitor })
}

/** Confirms the address; `waiting` if a second mail must be confirmed too. @throws AuthError `user_banned`. */
async function confirmByMail(scope: Scope, used: UsedCode): Promise<Account | 'waiting' | undefined> {
  const { userId, kind, flowId } = used
  const before = await findAccount(scope, userId)
  if (before === undefined) return undefined
  requireUsable(before)
  if (kind === 'email_change_token_current' || kind === 'email_change_token_new') {
    const changed = await confirmEmailChange(scope, { userId, kind, flowId })
    if (changed === undefined || changed === 'waiting') return changed
  } else if (before.confirmed_at === null) {
    await voidCodes(scope, userId, flowId)
    if (before.self_registered) {
      // Only the sign-up link confirms the password of the sign-up; otherwise a stranger may have set it.
      if (kind !== 'confirmation_token') await requireNewPassword(scope, userId)
      await dropAccess(scope, userId)
    }
    await settleSignupClaim(scope, userId)
    await confirmEmail(scope, userId)
  }
  await scope.query('update auth.users set last_sign_in_at = now() where id = $1', [userId])
  return findAccount(scope, userId)
}
