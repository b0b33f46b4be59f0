/** POST /signup: an account with e-mail and password, confirmed by a link that is mailed to it. */
import { Hono } from 'hono'
import { z } from 'zod'
import { enrol, confirmEmail, findAccount, madeUpUserAnswer, type NewAccount, userAnswer } from './accounts.ts'
import { AuthError } from './errors.ts'
import { addressBucket, mailBuckets, requireAttempt } from './limits.ts'
import { alreadyRegisteredLetter } from './mail/letters.ts'
import { letterFor, sendOrFail } from './mail-codes.ts'
import { issueCode } from './one-time-codes.ts'
import { hashPassword, requireAcceptablePassword } from './passwords.ts'
import { chooseRedirect } from './redirects.ts'
import { contact, metadata, optionalText, readBody, requireEmail, type Visitor, visitorOf } from './request.ts'
import { type AuthService } from './service.ts'
import { grantSession } from './session-answer.ts'
import { openSession } from './sessions.ts'

const signupBody = z.object({ ...contact, password: optionalText, data: metadata })
type SignupBody = z.output<typeof signupBody>

export function signupRoutes(service: AuthService): Hono {
  const { settings } = service
  const app = new Hono()
  app.post('/signup', async (context) => {
    const body = await readBody(context, signupBody)
    const email = requireSignup(body, service)
    const visitor = visitorOf(context, settings)
    const mailBucket = settings.autoconfirm ? [] : mailBuckets(service, 'confirmation', email)
    await requireAttempt(service, [addressBucket('signup', visitor), ...mailBucket])

    const candidate = { email, passwordHash: await hashPassword(body.password), data: body.data }
    if (settings.autoconfirm) {
      return context.json(await grantSession(context, service, await signUpConfirmed(service, candidate, visitor)))
    }
    return context.json(
      await signUpByMail(service, candidate, chooseRedirect(context.req.query('redirect_to'), settings)),
    )
  })
  return app
}

/** @returns the normalised address. */
function requireSignup({ email, phone, password }: SignupBody, { settings }: AuthService): string {
  if (settings.signup === 'closed') throw new AuthError('signup_disabled', 'Signups not allowed for this instance')
  if (email === '' && phone === '') {
    throw new AuthError('anonymous_provider_disabled', 'Anonymous sign-ins are disabled')
  }
  if (password === '') throw new AuthError('validation_failed', 'Signup requires a valid password')
  if (email !== '' && phone !== '') {
    const message = 'Only an email address or phone number should be provided on signup.'
    throw new AuthError('validation_failed', message)
  }
  if (email === '') throw new AuthError('phone_provider_disabled', 'Phone signups are disabled')
  requireAcceptablePassword(password, settings.minPasswordLength)
  return requireEmail(email)
}

async function signUpConfirmed({ database }: AuthService, candidate: NewAccount, visitor: Visitor) {
  const grant = await database.asAuth(async (scope) => {
    const id = await enrol(scope, candidate)
    if (id === undefined) return undefined
    await confirmEmail(scope, id)
    await scope.query('update auth.users set last_sign_in_at = now() where id = $1', [id])
    const account = await findAccount(scope, id)
    return account && openSession(scope, account, { method: 'password', visitor })
  })
  if (grant === undefined) throw new AuthError('user_already_exists', 'User already registered')
  return grant
}

/** Either way a mail is sent and waited for: the answer to a taken address takes no less time than any other. */
async function signUpByMail(service: AuthService, candidate: NewAccount, redirectTo: URL) {
  const { database, keys, settings } = service
  const { email } = candidate
  const enrolled = await database.asAuth(async (scope) => {
    const userId = await enrol(scope, candidate)
    if (userId === undefined) return undefined
    const issued = await issueCode(scope, { key: keys.codes, kind: 'confirmation_token', email, userId })
    const account = await findAccount(scope, userId)
    return account && { account, issued }
  })
  const letter =
    enrolled === undefined
      ? alreadyRegisteredLetter(`${settings.siteUrl}/login`)
      : letterFor(service, { kind: 'confirmation', issued: enrolled.issued, redirectTo })
  await sendOrFail(service, { kind: 'confirmation', email, letter })
  return enrolled === undefined ? madeUpUserAnswer(candidate) : userAnswer(enrolled.account)
}
