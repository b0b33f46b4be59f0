/** Delivers mail to a mail server, to the local mailbox, or else to the log. */
import type { Log } from '#server/base/log.ts'
import type { MailMessage } from './templates.ts'
import type { Mailbox } from './mailbox.ts'

export interface Mail {
  /** Whether the duration of a delivery could reveal that a mail was sent. */
  readonly isRemote: boolean
  /** @returns what the mail server answered; undefined without one */
  send(to: string, message: MailMessage): Promise<string | undefined>
}

export interface MailDependencies {
  readonly smtpUrl: string | undefined
  readonly from: string
  /** Null outside a local set-up, where only recipients may read mail. */
  readonly mailbox: Mailbox | null
  readonly log: Log
}

export function createMail({ smtpUrl, from, mailbox, log }: MailDependencies): Mail {
  if (smtpUrl !== undefined) return createSmtpMail(smtpUrl, from)
  return {
    isRemote: false,
    async send(to, message) {
      await mailbox?.add(to, message)
      log.info(
        { to, subject: message.subject, ...message.linkAndCode },
        'no mail server is set: here is the link of this mail',
      )
      return undefined
    },
  }
}

function createSmtpMail(smtpUrl: string, from: string): Mail {
  // Loaded with the first mail to keep the start fast.
  const connecting = async () => {
    const { createTransport } = await import('nodemailer')
    const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }
    return createTransport({ url: smtpUrl, ...timeouts }, { from })
  }
  let transport: ReturnType<typeof connecting> | undefined
  return {
    isRemote: true,
    async send(to, { subject, text, html }) {
      transport ??= connecting()
      const { response } = await (await transport).sendMail({ to, subject, text, html })
      return response
    },
  }
}
