/** Sends mails with a link and a code. Neither answer nor timing reveals whether the address has an account. */
import type { Scope } from '#server/database/scope.ts'
import {
  confirmationMail,
  invitationMail,
  type MailMessage,
  magicLinkMail,
  newEmailMail,
  oldEmailMail,
  type LinkAndCode,
  recoveryMail,
} from './mail/templates.ts'
import { AuthError } from './errors.ts'
import { refundAttempts, type LinkKind, mailBuckets, type MailKind } from './rate-limits.ts'
import { type CodeKind, issueCode } from './one-time-codes.ts'
import type { Challenge, FlowMethod } from './pkce.ts'
import type { AuthService } from './service.ts'

interface MailTemplate {
  readonly code: CodeKind
  /** The `type` of the verification link. */
  readonly type: string
  readonly method: FlowMethod
  readonly compose: (linkAndCode: LinkAndCode) => MailMessage
}

const MAILS: Record<LinkKind, MailTemplate> = {
  confirmation: { code: 'confirmation_token', type: 'signup', method: 'email/signup', compose: confirmationMail },
  recovery: { code: 'recovery_token', type: 'recovery', method: 'recovery', compose: recoveryMail },
  magiclink: { code: 'recovery_token', type: 'magiclink', method: 'magiclink', compose: magicLinkMail },
  invitation: { code: 'confirmation_token', type: 'invite', method: 'invite', compose: invitationMail },
  email_change_current: {
    code: 'email_change_token_current',
    type: 'email_change',
    method: 'email_change',
    compose: oldEmailMail,
  },
  email_change_new: {
    code: 'email_change_token_new',
    type: 'email_change',
    method: 'email_change',
    compose: newEmailMail,
  },
}

export interface MailCodeRequest {
  readonly kind: LinkKind
  readonly email: string
  /** Undefined without an account: issuing takes the same time, and the link is invalid. */
  readonly userId: string | undefined
  readonly pkce: Challenge | undefined
  readonly redirectTo: URL
}

export async function issueMailCode(
  scope: Scope,
  { keys, settings }: AuthService,
  { kind, email, userId, pkce, redirectTo }: MailCodeRequest,
) {
  const { code, type, method, compose } = MAILS[kind]
  const issued = await issueCode(scope, { key: keys.codes, kind: code, email, userId, flow: { method, pkce } })
  const link = new URL(`${settings.siteUrl}/auth/v1/verify`)
  link.searchParams.set('token', issued.token)
  link.searchParams.set('type', type)
  link.searchParams.set('redirect_to', redirectTo.href)
  return { ...issued, link, type, message: compose({ link: link.href, code: issued.code }) }
}

export interface OutgoingMail {
  readonly kind: MailKind
  readonly email: string
  readonly message: MailMessage
}

/** @throws AuthError `unexpected_failure` if delivery fails; the attempt is refunded. */
export async function sendAndWait(service: AuthService, { kind, email, message }: OutgoingMail): Promise<void> {
  try {
    await service.mail.send(email, message)
  } catch (error) {
    await refundAttempts(service, mailBuckets(service, kind, email))
    throw new AuthError('unexpected_failure', `Error sending ${kind} email`, { cause: error })
  }
}

/** Does not wait for a remote mail server: its response time would reveal whether a mail was sent. Logs failures. */
export async function sendInBackground(service: AuthService, mails: readonly OutgoingMail[]): Promise<void> {
  for (const mail of mails) {
    const sending = sendAndWait(service, mail)
    if (!service.mail.isRemote) await sending
    else
      sending.catch((error: unknown) => service.log.error({ err: error, kind: mail.kind }, 'a mail could not be sent'))
  }
}
