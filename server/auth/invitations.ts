/** POST /invite and /admin/generate_link: sign-in links that require the operator's key. */
import { Hono } from 'hono'
import { z } from 'zod'
import type { Scope } from '#server/database/scope.ts'
import { type Account, findAccountByEmail, requireAccount } from './accounts.ts'
import { deleteEmailChangeCodes } from './email-change.ts'
import { AuthError } from './errors.ts'
import type { LinkKind } from './rate-limits.ts'
import { issueMailCode, sendAndWait } from './mail-codes.ts'
import { hashPassword, type PasswordRules, requireAcceptablePassword } from './passwords.ts'
import { createAccountForOperator } from './pending-accounts.ts'
import { chooseRedirect } from './redirects.ts'
import { metadata, optionalText, readBody, requireEmail } from './request.ts'
import { requireServiceRole } from './require-session.ts'
import type { AuthService } from './service.ts'
import { userAnswer } from './user-answer.ts'

const inviteBody = z.object({ email: optionalText, data: metadata })
const linkBody = z.object({
  type: optionalText,
  email: optionalText,
  new_email: optionalText,
  password: optionalText,
  data: metadata,
  redirect_to: optionalText,
})
type LinkBody = z.output<typeof linkBody>

const LINK_KINDS: Readonly<Record<string, LinkKind>> = {
  signup: 'confirmation',
  invite: 'invitation',
  magiclink: 'magiclink',
  recovery: 'recovery',
  email_change_current: 'email_change_current',
  email_change_new: 'email_change_new',
}

export function invitationRoutes(service: AuthService): Hono {
  const { database, settings } = service
  const app = new Hono()

  app.post('/invite', async (context) => {
    await requireServiceRole(context, service)
    const body = await readBody(context, inviteBody)
    const email = requireEmail(body.email)
    const redirectTo = chooseRedirect(context.req.query('redirect_to'), settings)
    const { account, message } = await database.asAuth(async (scope) => {
      const { userId, message } = await issueInvitation(scope, service, { email, data: body.data, redirectTo })
      return { account: await requireAccount(scope, userId), message }
    })
    await sendAndWait(service, { kind: 'invitation', email, message })
    return context.json(userAnswer(account))
  })

  app.post('/admin/generate_link', async (context) => {
    await requireServiceRole(context, service)
    const body = await readBody(context, linkBody)
    const redirectTo = chooseRedirect(context.req.query('redirect_to') ?? body.redirect_to, settings)
    requireEmail(body.email)
    const passwordHash = await hashForSignup(body, settings)
    const { account, issued, type } = await database.asAuth(async (scope) => {
      const chosen = await resolveLinkTarget(scope, service, body, passwordHash)
      const issued = await issueMailCode(scope, service, { ...chosen, pkce: undefined, redirectTo })
      return { account: await requireAccount(scope, chosen.userId), issued, type: chosen.type }
    })
    return context.json({
      ...userAnswer(account),
      action_link: issued.link.href,
      email_otp: issued.code,
      hashed_token: issued.token,
      verification_type: type,
      redirect_to: redirectTo.href,
    })
  })

  return app
}

interface Invited {
  readonly email: string
  readonly data: Readonly<Record<string, unknown>>
}

const emailExists = () => new AuthError('email_exists', 'A user with this email address has already been registered')

/** Makes an account without a password for the address. @throws AuthError `email_exists`, `signup_disabled` */
export async function invite(
  scope: Scope,
  { settings }: Pick<AuthService, 'settings'>,
  invited: Invited,
): Promise<string> {
  if (settings.signup === 'closed') throw new AuthError('signup_disabled', 'Signups not allowed for this instance')
  const userId = await createAccountForOperator(scope, { ...invited, passwordHash: null })
  if (userId === undefined) throw emailExists()
  await scope.query('update auth.users set invited_at = now() where id = $1', [userId])
  return userId
}

/** As `invite`, with the mail that tells of it. */
export async function issueInvitation(
  scope: Scope,
  service: AuthService,
  { redirectTo, ...invited }: Invited & { readonly redirectTo: URL },
) {
  const userId = await invite(scope, service, invited)
  const { email } = invited
  const { message } = await issueMailCode(scope, service, {
    kind: 'invitation',
    email,
    userId,
    pkce: undefined,
    redirectTo,
  })
  return { userId, message }
}

async function hashForSignup({ type, password }: LinkBody, rules: PasswordRules): Promise<string | null> {
  if (type !== 'signup') return null
  if (password === '') throw new AuthError('validation_failed', 'Signup requires a valid password')
  requireAcceptablePassword(password, rules)
  return hashPassword(password)
}

interface LinkTarget {
  readonly type: string
  readonly kind: LinkKind
  readonly email: string
  readonly userId: string
}

/** `signup`, `invite` and `magiclink` create a missing account. */
async function resolveLinkTarget(
  scope: Scope,
  service: AuthService,
  body: LinkBody,
  passwordHash: string | null,
): Promise<LinkTarget> {
  const { type, data } = body
  const email = requireEmail(body.email)
  const kind = Object.hasOwn(LINK_KINDS, type) ? LINK_KINDS[type] : undefined
  if (kind === undefined) throw new AuthError('validation_failed', `Invalid email action link type requested: ${type}`)
  if (type === 'invite') return { type, kind, email, userId: await invite(scope, service, { email, data }) }
  const account = await findAccountByEmail(scope, email)
  if (type === 'signup' || (type === 'magiclink' && account === undefined)) {
    const userId = await createAccountForOperator(scope, { email, passwordHash, data })
    if (userId === undefined) throw emailExists()
    return { type: 'signup', kind: 'confirmation', email, userId }
  }
  if (account === undefined) {
    throw new AuthError('user_not_found', 'User with this email not found', { status: 404 })
  }
  if (kind !== 'email_change_current' && kind !== 'email_change_new') return { type, kind, email, userId: account.id }
  const newEmail = requireEmail(body.new_email)
  await prepareEmailChange(scope, account, newEmail)
  return { type, kind, email: kind === 'email_change_new' ? newEmail : email, userId: account.id }
}

/** The two links of an address change are requested separately; the second request must not void the first link. */
async function prepareEmailChange(scope: Scope, account: Account, newEmail: string): Promise<void> {
  const holder = await findAccountByEmail(scope, newEmail)
  if (holder !== undefined && (holder.confirmed_at !== null || !holder.self_registered)) throw emailExists()
  const begun = await scope.query(
    `update auth.users set email_change = $2, email_change_confirm_status = 0, email_change_confirmed_at = null
     where id = $1 and (email_change <> $2 or email_change_confirm_status > 0)`,
    [account.id, newEmail],
  )
  if (begun.rowCount === 0) return
  await deleteEmailChangeCodes(scope, account.id)
}
