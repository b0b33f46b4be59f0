/** The mail to the owner who has deleted a space. */
import type { SpaceReceipt } from '#contract/space.ts'
import { findAccount } from './accounts.ts'
import { spaceReceiptMail } from './mail/templates.ts'
import type { AuthService } from './service.ts'

/** None to an account without an address. */
export async function sendSpaceReceipt(
  service: AuthService,
  { recipientId, receipt }: { readonly recipientId: string; readonly receipt: SpaceReceipt },
): Promise<void> {
  const account = await service.database.asAuth((scope) => findAccount(scope, recipientId))
  if (account?.email != null) await service.mail.send(account.email, spaceReceiptMail(receipt))
}
