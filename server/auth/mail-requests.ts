/** POST /recover, /otp, /magiclink and /resend: mails that somebody asks for, about an account or about none. */
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { type Scope } from '#server/database/scope.ts'
import { type Account, enrol, findAccountByEmail } from './accounts.ts'
import { AuthError } from './errors.ts'
import { addressBucket, giveBack, mailBuckets, type MailKind, requireAttempt } from './limits.ts'
import { letterFor, sendUnseen } from './mail-codes.ts'
import { issueCode } from './one-time-codes.ts'
import { chooseRedirect } from './redirects.ts'
import { contact, metadata, optionalText, readBody, requireEmail, visitorOf } from './request.ts'
import { type AuthService } from './service.ts'

const recoverBody = z.object({ email: optionalText })
const resendBody = z.object({ ...contact, type: optionalText })
const otpBody = z.object({ ...contact, create_user: z.boolean().nullish(), data: metadata })

export function mailRequestRoutes(service: AuthService): Hono {
  const app = new Hono()

  app.post('/recover', async (context) => {
    const { email } = await readBody(context, recoverBody)
    if (email === '') throw new AuthError('validation_failed', 'Password recovery requires an email')
    return answerMailRequest(context, service, {
      endpoint: 'recover',
      kind: 'recovery',
      email: requireEmail(email),
      choose: findAccountByEmail,
    })
  })

  app.post('/resend', async (context) => {
    const { type, email, phone } = await readBody(context, resendBody)
    if (type === 'sms' || type === 'phone_change' || phone !== '') {
      throw new AuthError('phone_provider_disabled', 'Unsupported phone provider')
    }
    if (type !== 'signup' && type !== 'email_change') {
      throw new AuthError('validation_failed', 'Missing one of these types: signup, email_change')
    }
    if (email === '') throw new AuthError('validation_failed', 'Type provided requires an email address')
    return answerMailRequest(context, service, {
      endpoint: 'resend',
      kind: 'confirmation',
      email: requireEmail(email),
      async choose(scope, address) {
        const account = await findAccountByEmail(scope, address)
        return type === 'signup' && account?.confirmed_at === null ? account : undefined
      },
    })
  })

  const sendMagicLink = async (context: Context) => {
    const { email, phone, create_user: createUser, data } = await readBody(context, otpBody)
    if (phone !== '') throw new AuthError('phone_provider_disabled', 'Unsupported phone provider')
    if (email === '') throw new AuthError('validation_failed', 'One of email or phone must be set')
    return answerMailRequest(context, service, {
      endpoint: 'otp',
      kind: 'magiclink',
      email: requireEmail(email),
      async choose(scope, address) {
        const account = await findAccountByEmail(scope, address)
        if (account !== undefined) return account
        if (createUser === false) throw new AuthError('otp_disabled', 'Signups not allowed for otp')
        if (service.settings.signup === 'closed') {
          throw new AuthError('signup_disabled', 'Signups not allowed for this instance')
        }
        await enrol(scope, { email: address, passwordHash: null, data })
        return findAccountByEmail(scope, address)
      },
    })
  }
  app.post('/otp', sendMagicLink)
  app.post('/magiclink', sendMagicLink)

  return app
}

interface MailRequest {
  readonly endpoint: 'recover' | 'resend' | 'otp'
  readonly kind: MailKind
  readonly email: string
  /** The account to write to; undefined where there is none, which the answer does not tell. */
  readonly choose: (scope: Scope, email: string) => Promise<Account | undefined>
}

async function answerMailRequest(
  context: Context,
  service: AuthService,
  { endpoint, kind, email, choose }: MailRequest,
): Promise<Response> {
  const { database, keys, settings } = service
  const interval = mailBuckets(service, kind, email)
  await requireAttempt(service, [addressBucket(endpoint, visitorOf(context, settings)), ...interval])
  const redirectTo = chooseRedirect(context.req.query('redirect_to'), settings)

  const writing = database.asAuth(async (scope) => {
    const account = await choose(scope, email)
    const issued = await issueCode(scope, {
      key: keys.codes,
      kind: kind === 'confirmation' ? 'confirmation_token' : 'recovery_token',
      email,
      userId: account?.id,
    })
    return account && { kind, email, letter: letterFor(service, { kind, issued, redirectTo }) }
  })
  const parcel = await writing.catch(async (error: unknown) => {
    await giveBack(service, interval)
    throw error
  })
  await sendUnseen(service, parcel)
  return context.json({})
}
