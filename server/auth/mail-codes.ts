/** Sends mails that carry a link and a code, without telling by answer or time whether the address has an account. */
import { type Scope } from '#server/database/scope.ts'
import {
  confirmationLetter,
  invitationLetter,
  type Letter,
  magicLinkLetter,
  newEmailLetter,
  oldEmailLetter,
  type Pass,
  recoveryLetter,
} from './mail/letters.ts'
import { AuthError } from './errors.ts'
import { giveBack, type LinkKind, mailBuckets, type MailKind } from './limits.ts'
import { type CodeKind, issueCode } from './one-time-codes.ts'
import { type Challenge, type FlowMethod } from './pkce.ts'
import { type AuthService } from './service.ts'

interface MailSort {
  readonly code: CodeKind
  /** The `type` of the protocol that the link is verified with. */
  readonly type: string
  readonly method: FlowMethod
  readonly compose: (pass: Pass) => Letter
}

const MAILS: Record<LinkKind, MailSort> = {
  confirmation: { code: 'confirmation_token', type: 'signup', method: 'email/signup', compose: confirmationLetter },
  recovery: { code: 'recovery_token', type: 'recovery', method: 'recovery', compose: recoveryLetter },
  magiclink: { code: 'recovery_token', type: 'magiclink', method: 'magiclink', compose: magicLinkLetter },
  invitation: { code: 'confirmation_token', type: 'invite', method: 'invite', compose: invitationLetter },
  email_change_current: {
    code: 'email_change_token_current',
    type: 'email_change',
    method: 'email_change',
    compose: oldEmailLetter,
  },
  email_change_new: {
    code: 'email_change_token_new',
    type: 'email_change',
    method: 'email_change',
    compose: newEmailLetter,
  },
}

export interface PassRequest {
  readonly kind: LinkKind
  readonly email: string
  /** Undefined for nobody: it takes as long, and the link opens nothing. */
  readonly userId: string | undefined
  readonly pkce: Challenge | undefined
  readonly redirectTo: URL
}

/** Issues the code and the link of a mail, and writes the mail around them. */
export async function issuePass(
  scope: Scope,
  { keys, settings }: AuthService,
  { kind, email, userId, pkce, redirectTo }: PassRequest,
) {
  const { code, type, method, compose } = MAILS[kind]
  const issued = await issueCode(scope, { key: keys.codes, kind: code, email, userId, flow: { method, pkce } })
  const link = new URL(`${settings.siteUrl}/auth/v1/verify`)
  link.searchParams.set('token', issued.token)
  link.searchParams.set('type', type)
  link.searchParams.set('redirect_to', redirectTo.href)
  return { ...issued, link, type, letter: compose({ link: link.href, code: issued.code }) }
}

export interface Parcel {
  readonly kind: MailKind
  readonly email: string
  readonly letter: Letter
}

/**
 * Sends, and waits for it.
 * @throws AuthError `unexpected_failure` where the mail could not be handed over; asking again works at once.
 */
export async function sendOrFail(service: AuthService, { kind, email, letter }: Parcel): Promise<void> {
  try {
    await service.mail.send(email, letter)
  } catch (error) {
    await giveBack(service, mailBuckets(service, kind, email))
    throw new AuthError('unexpected_failure', `Error sending ${kind} email`, { cause: error })
  }
}

/**
 * Sends what there is to send. A mail server's time would tell whether there was, so it is not waited for;
 * a failure is logged, and asking again works at once.
 */
export async function sendUnseen(service: AuthService, parcels: readonly Parcel[]): Promise<void> {
  for (const parcel of parcels) {
    const sending = sendOrFail(service, parcel)
    if (!service.mail.isRemote) await sending
    else
      sending.catch((error: unknown) =>
        service.log.error({ err: error, kind: parcel.kind }, 'a mail could not be sent'),
      )
  }
}
