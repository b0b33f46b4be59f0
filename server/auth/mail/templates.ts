/** Every mail says its purpose, the next step, and what to do if it is unexpected. */
import type { ClosingReceipt } from '#contract/auth.ts'
import type { SpaceReceipt } from '#contract/space.ts'
import { PRODUCT_NAME } from '#contract/product-names.ts'

export interface MailMessage {
  readonly subject: string
  readonly text: string
  readonly html: string
  /** For the log of a set-up without a mail server. */
  readonly linkAndCode: LinkAndCode
}

interface Words {
  readonly subject: string
  readonly opening: string
  readonly action?: string
  readonly closing: string
}

/** The code has six digits, for programs that ask for one. */
export interface LinkAndCode {
  readonly link?: string
  readonly code?: string
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const FONT = 'font-family: Georgia, serif; font-size: 17px; line-height: 28px; color: #2b2520;'

function compose({ subject, opening, action = '', closing }: Words, { link, code }: LinkAndCode): MailMessage {
  const codeLine =
    code === undefined
      ? undefined
      : `Where you are asked for a code${link === undefined ? '' : ' instead'}, enter ${code}.`
  const text = [opening, link === undefined ? undefined : `${action}:\n${link}`, codeLine, closing, PRODUCT_NAME]
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body style="margin: 0; padding: 40px 24px; background: #f7f2ea;">
<div style="max-width: 520px; margin: 0 auto; ${FONT}">
<p style="margin: 0 0 24px;">${escapeHtml(opening)}</p>
${link === undefined ? '' : `<p style="margin: 0 0 24px;"><a href="${escapeHtml(link)}" style="color: #8a4b12; font-weight: bold;">${escapeHtml(action)}</a></p>`}
${codeLine === undefined ? '' : `<p style="margin: 0 0 24px;">${escapeHtml(codeLine)}</p>`}
<p style="margin: 0 0 24px; color: #6b6157; font-size: 14px; line-height: 22px;">${escapeHtml(closing)}</p>
<p style="margin: 0; color: #6b6157; font-size: 14px;">${PRODUCT_NAME}</p>
</div>
</body>
</html>
`
  return {
    subject,
    text: `${text.filter((part) => part !== undefined).join('\n\n')}\n`,
    html,
    linkAndCode: link === undefined ? { ...(code === undefined ? {} : { code }) } : { link },
  }
}

/** The words of a link, and of the button on its page. */
export const LINK_ACTIONS = {
  confirmation: 'Confirm this address and sign in',
  recovery: 'Sign in and set a new password',
  magiclink: 'Sign in',
  invitation: 'Accept the invitation',
  email_change_new: 'Use this address',
  email_change_current: 'Allow the change',
} as const

export const confirmationMail = (linkAndCode: LinkAndCode): MailMessage =>
  compose(
    {
      subject: `Confirm your e-mail for ${PRODUCT_NAME}`,
      opening: `Somebody, most likely you, created an ${PRODUCT_NAME} account with this address.`,
      action: LINK_ACTIONS.confirmation,
      closing: 'The link works once, for one day. If it was not you, leave this mail alone and nothing happens.',
    },
    linkAndCode,
  )

export const recoveryMail = (linkAndCode: LinkAndCode): MailMessage =>
  compose(
    {
      subject: `Set a new password for ${PRODUCT_NAME}`,
      opening: `Here is the way back into your ${PRODUCT_NAME} account.`,
      action: LINK_ACTIONS.recovery,
      closing: 'The link works once, for one hour. If you did not ask for it, your password stays as it is.',
    },
    linkAndCode,
  )

export const magicLinkMail = (linkAndCode: LinkAndCode): MailMessage =>
  compose(
    {
      subject: `Your sign-in link for ${PRODUCT_NAME}`,
      opening: `Here is your link into ${PRODUCT_NAME}. No password is needed.`,
      action: LINK_ACTIONS.magiclink,
      closing: 'The link works once, for one hour. If you did not ask for it, leave this mail alone.',
    },
    linkAndCode,
  )

/** Only the owner of a taken address may learn that it has an account. */
export const alreadyRegisteredMail = (link: string): MailMessage =>
  compose(
    {
      subject: `You already have an ${PRODUCT_NAME} account`,
      opening: `Somebody, most likely you, tried to create an ${PRODUCT_NAME} account with this address. You have one already, and nothing about it has changed.`,
      action: 'Sign in',
      closing: 'If it was not you, leave this mail alone.',
    },
    { link },
  )

export const invitationMail = (linkAndCode: LinkAndCode): MailMessage =>
  compose(
    {
      subject: `You are invited to ${PRODUCT_NAME}`,
      opening: `Somebody who runs ${PRODUCT_NAME} has made an account for this address.`,
      action: LINK_ACTIONS.invitation,
      closing: 'The link works once, for one day. If you expected no invitation, leave this mail alone.',
    },
    linkAndCode,
  )

/** @param link to the page, which shows the invitation */
export const spaceInvitationMail = (
  { space, inviter }: { readonly space: string; readonly inviter: string },
  link: string,
): MailMessage =>
  compose(
    {
      subject: `You are invited to “${space}”`,
      opening: `${inviter} invites you to the space “${space}” in ${PRODUCT_NAME}.`,
      action: 'See the invitation',
      closing: 'The invitation ends in 14 days. If you expected none, leave this mail alone and nothing happens.',
    },
    { link },
  )

export const newEmailMail = (linkAndCode: LinkAndCode): MailMessage =>
  compose(
    {
      subject: `Confirm your new e-mail for ${PRODUCT_NAME}`,
      opening: `Somebody, most likely you, wants to use this address for their ${PRODUCT_NAME} account from now on.`,
      action: LINK_ACTIONS.email_change_new,
      closing: 'The link works once, for one day. If it was not you, leave this mail alone and nothing happens.',
    },
    linkAndCode,
  )

export const oldEmailMail = (linkAndCode: LinkAndCode): MailMessage =>
  compose(
    {
      subject: `Confirm the change of your e-mail for ${PRODUCT_NAME}`,
      opening: `Somebody, most likely you, wants to use another address than this one for your ${PRODUCT_NAME} account.`,
      action: LINK_ACTIONS.email_change_current,
      closing:
        'The link works once, for one day. If it was not you, leave this mail alone, and set a new password: somebody is signed in to your account.',
    },
    linkAndCode,
  )

/** Contains only a code, because a link could not reach the waiting page. */
export const reauthenticationMail = (code: string): MailMessage =>
  compose(
    {
      subject: `Your code for ${PRODUCT_NAME}`,
      opening: `Here is the code that confirms it is you who changes something about your ${PRODUCT_NAME} account.`,
      closing: 'It works once, for one hour. If you did not ask for it, somebody is signed in to your account.',
    },
    { code },
  )

/** @param removed rows per kind */
const countRemoved = (removed: ClosingReceipt['removed']): string =>
  ['conversations', 'messages', 'documents'].map((kind) => `${removed[kind] ?? 0} ${kind}`).join(', ')

export const spaceReceiptMail = ({ id, space, deleted_at: deletedAt, removed }: SpaceReceipt): MailMessage =>
  compose(
    {
      subject: `“${space}” was deleted`,
      opening: `The space “${space}” in ${PRODUCT_NAME} and everything in it were deleted on ${deletedAt.slice(0, 10)} at ${deletedAt.slice(11, 16)} UTC: ${countRemoved(removed)}. Nothing of it can be brought back.`,
      closing: `The receipt has the number ${id}. If it was not you, somebody is signed in to your account: change your password.`,
    },
    {},
  )

export const receiptMail = ({ id, closed_at: closedAt, removed }: ClosingReceipt): MailMessage => {
  return compose(
    {
      subject: `Your ${PRODUCT_NAME} account was deleted`,
      opening: `Your ${PRODUCT_NAME} account and everything in it were deleted on ${closedAt.slice(0, 10)} at ${closedAt.slice(11, 16)} UTC: ${countRemoved(removed)}. Nothing of it can be brought back.`,
      closing: `The receipt has the number ${id}. If it was not you, somebody knew your password: change it wherever else you use it.`,
    },
    {},
  )
}

export const testMail = (): MailMessage =>
  compose(
    {
      subject: `${PRODUCT_NAME} can send mail`,
      opening: `This is the test mail that you sent from the settings of ${PRODUCT_NAME}.`,
      closing: 'Nothing else needs to be done.',
    },
    {},
  )
