/** Sends mails that carry a link and a code, without telling by answer or time whether the address has an account. */
import { confirmationLetter, type Letter, magicLinkLetter, recoveryLetter } from './mail/letters.ts'
import { AuthError } from './errors.ts'
import { giveBack, mailBuckets, type MailKind } from './limits.ts'
import { type IssuedCode } from './one-time-codes.ts'
import { type AuthService } from './service.ts'

const LETTERS = { confirmation: confirmationLetter, recovery: recoveryLetter, magiclink: magicLinkLetter } as const

/** The `type` of the protocol that a link of each kind is verified with. */
const LINK_TYPES = { confirmation: 'signup', recovery: 'recovery', magiclink: 'magiclink' } as const

export function letterFor(
  { settings }: AuthService,
  { kind, issued, redirectTo }: { kind: MailKind; issued: IssuedCode; redirectTo: URL },
): Letter {
  const link = new URL(`${settings.siteUrl}/auth/v1/verify`)
  link.searchParams.set('token', issued.token)
  link.searchParams.set('type', LINK_TYPES[kind])
  link.searchParams.set('redirect_to', redirectTo.href)
  return LETTERS[kind]({ link: link.href, code: issued.code })
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
 * Sends where there is somebody to send to. A mail server's time would tell whether there was, so it is not waited for;
 * a failure is logged, and asking again works at once.
 */
export async function sendUnseen(service: AuthService, parcel: Parcel | undefined): Promise<void> {
  if (parcel === undefined) return
  const sending = sendOrFail(service, parcel)
  if (!service.mail.isRemote) return sending
  sending.catch((error: unknown) => service.log.error({ err: error, kind: parcel.kind }, 'a mail could not be sent'))
}
