/** POST /recover, /otp, /magiclink and /resend: requests for mails, with or without an account. */
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { Scope } from '#server/database/scope.ts'
import { type Account, findAccountByEmail } from './accounts.ts'
import { resendEmailChange } from './email-change.ts'
import { AuthError } from './errors.ts'
import { addressBucket, refundAttempts, type LinkKind, mailBuckets, enforceRateLimits } from './rate-limits.ts'
import { issueMailCode, type OutgoingMail, type MailCodeRequest, sendInBackground } from './mail-codes.ts'
import { claimAddress } from './pending-accounts.ts'
import { challengeMembers, readChallenge } from './pkce.ts'
import { chooseRedirect } from './redirects.ts'
import { contact, metadata, optionalText, readBody, requireEmail, visitorOf } from './request.ts'
import type { AuthService } from './service.ts'
import { prolongSignupClaim } from './signup-claims.ts'

const recoverBody = z.object({ email: optionalText, ...challengeMembers })
const resendBody = z.object({ ...contact, type: optionalText, ...challengeMembers })
const otpBody = z.object({ ...contact, create_user: z.boolean().nullish(), data: metadata, ...challengeMembers })

export function mailRequestRoutes(service: AuthService): Hono {
  const app = new Hono()

  app.post('/recover', async (context) => {
    const body = await readBody(context, recoverBody)
    const { email } = body
    if (email === '') throw new AuthError('validation_failed', 'Password recovery requires an email')
    const pkce = readChallenge(body)
    return answerMailRequest(context, service, {
      endpoint: 'recover',
      kind: 'recovery',
      email: requireEmail(email),
      async write(scope, address, redirectTo) {
        const account = await claimAndFind(scope, service, address, NO_ACCOUNT_WANTED)
        return writeTo(scope, service, account, { kind: 'recovery', email: address, pkce, redirectTo })
      },
    })
  })

  app.post('/resend', async (context) => {
    const body = await readBody(context, resendBody)
    const { type, email, phone } = body
    if (type === 'sms' || type === 'phone_change' || phone !== '') {
      throw new AuthError('phone_provider_disabled', 'Unsupported phone provider')
    }
    if (type !== 'signup' && type !== 'email_change') {
      throw new AuthError('validation_failed', 'Missing one of these types: signup, email_change')
    }
    if (email === '') throw new AuthError('validation_failed', 'Type provided requires an email address')
    const pkce = readChallenge(body)
    return answerMailRequest(context, service, {
      endpoint: 'resend',
      kind: type === 'signup' ? 'confirmation' : 'email_change_current',
      email: requireEmail(email),
      async write(scope, address, redirectTo) {
        const account = await findAccountByEmail(scope, address)
        if (type === 'signup') {
          const unconfirmed = account?.confirmed_at === null ? account : undefined
          return writeTo(scope, service, unconfirmed, { kind: 'confirmation', email: address, pkce, redirectTo })
        }
        return resendEmailChange(scope, service, account, { pkce, redirectTo })
      },
    })
  })

  const sendMagicLink = async (context: Context) => {
    const body = await readBody(context, otpBody)
    const { email, phone } = body
    if (phone !== '') throw new AuthError('phone_provider_disabled', 'Unsupported phone provider')
    if (email === '') throw new AuthError('validation_failed', 'One of email or phone must be set')
    const pkce = readChallenge(body)
    return answerMailRequest(context, service, {
      endpoint: 'otp',
      kind: 'magiclink',
      email: requireEmail(email),
      async write(scope, address, redirectTo) {
        const account = await claimAndFind(scope, service, address, body)
        return writeTo(scope, service, account, { kind: 'magiclink', email: address, pkce, redirectTo })
      },
    })
  }
  app.post('/otp', sendMagicLink)
  app.post('/magiclink', sendMagicLink)

  return app
}

const NO_ACCOUNT_WANTED = { create_user: false, data: {} }

/**
 * The account that is written to. One that is not confirmed loses a password that a stranger may have set. A magic link
 * creates a missing account if sign-ups are open. Otherwise there is no mail; the equal response does not reveal who has one.
 */
async function claimAndFind(
  scope: Scope,
  { settings }: AuthService,
  email: string,
  { create_user: createUser, data }: Pick<z.output<typeof otpBody>, 'create_user' | 'data'>,
): Promise<Account | undefined> {
  const isExistingOnly = createUser === false || settings.signup !== 'open'
  await claimAddress(scope, { email, passwordHash: null, provenHash: null, data }, { isExistingOnly })
  return findAccountByEmail(scope, email)
}

async function writeTo(
  scope: Scope,
  service: AuthService,
  account: Account | undefined,
  request: Omit<MailCodeRequest, 'userId'>,
): Promise<OutgoingMail[]> {
  await prolongSignupClaim(scope, request.email)
  const { message } = await issueMailCode(scope, service, { ...request, userId: account?.id })
  return account === undefined ? [] : [{ kind: request.kind, email: request.email, message }]
}

interface MailRequest {
  readonly endpoint: 'recover' | 'resend' | 'otp'
  readonly kind: LinkKind
  readonly email: string
  /** Composes the mails; none without a recipient. Response and timing are equal in both cases. */
  readonly write: (scope: Scope, email: string, redirectTo: URL) => Promise<OutgoingMail[]>
}

async function answerMailRequest(
  context: Context,
  service: AuthService,
  { endpoint, kind, email, write }: MailRequest,
): Promise<Response> {
  const { database, settings } = service
  const interval = mailBuckets(service, kind, email)
  await enforceRateLimits(service, [addressBucket(endpoint, visitorOf(context, settings)), ...interval])
  const redirectTo = chooseRedirect(context.req.query('redirect_to'), settings)
  const writing = database.asAuth((scope) => write(scope, email, redirectTo))
  const mails = await writing.catch(async (error: unknown) => {
    await refundAttempts(service, interval)
    throw error
  })
  await sendInBackground(service, mails)
  return context.json({})
}
