/** Mails about an invitation to a space, which the page shows to its recipient as well. */
import { takeAttempt } from '#server/access/token-bucket.ts'
import { findAccountByEmail } from './accounts.ts'
import { issueInvitation } from './invitations.ts'
import { type OutgoingMail, sendAndWait } from './mail-codes.ts'
import { spaceInvitationMail } from './mail/templates.ts'
import { mailBuckets } from './rate-limits.ts'
import { chooseRedirect } from './redirects.ts'
import type { AuthService } from './service.ts'

export interface SpaceInvitation {
  readonly email: string
  readonly space: string
  /** Name of the person who invites. */
  readonly inviter: string
  readonly inviterId: string
}

/** Mails that one person may cause. */
const MAILS_PER_HOUR = 60

const inviterBucket = (inviterId: string) => ({
  key: `space-invitations:${inviterId}`,
  capacity: MAILS_PER_HOUR,
  refillPerS: MAILS_PER_HOUR / 3600,
})

/**
 * To an account: where to find the invitation. To others: the invitation that makes one, where sign-ups are open. Above the
 * limits no mail is sent.
 */
export async function sendSpaceInvitation(service: AuthService, invitation: SpaceInvitation): Promise<void> {
  const { database, settings } = service
  const { email, inviterId } = invitation
  if (settings.rateLimits !== 'off') {
    const buckets = [inviterBucket(inviterId), ...mailBuckets(service, 'invitation', email)]
    if (await database.asAuth((scope) => takeAttempt(scope, buckets))) return
  }
  const mail = await database.asAuth(async (scope): Promise<OutgoingMail | undefined> => {
    const account = await findAccountByEmail(scope, email)
    if (account !== undefined)
      return { kind: 'invitation', email, message: spaceInvitationMail(invitation, `${settings.siteUrl}/`) }
    if (settings.signup !== 'open') return undefined
    const redirectTo = chooseRedirect(undefined, settings)
    const { message } = await issueInvitation(scope, service, { email, data: {}, redirectTo })
    return { kind: 'invitation', email, message }
  })
  if (mail) await sendAndWait(service, mail)
}
