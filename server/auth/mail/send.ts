/** Hands mail on: to a mail server, to the local mailbox, or, where there is neither, to whoever reads the log. */
import { type Log } from '#server/base/log.ts'
import { type Letter } from './letters.ts'
import { type Mailbox } from './mailbox.ts'

export interface Mail {
  /** Whether sending takes as long as another machine likes, so that who waits for it learns that a mail was sent. */
  readonly isRemote: boolean
  /** Resolves when the letter was handed over; rejects when it could not be. */
  send(to: string, letter: Letter): Promise<void>
}

export interface MailDependencies {
  readonly smtpUrl: string | undefined
  readonly from: string
  /** Null outside a local set-up: mail may be read there by nobody but the operator. */
  readonly mailbox: Mailbox | null
  readonly log: Log
}

export function createMail({ smtpUrl, from, mailbox, log }: MailDependencies): Mail {
  if (smtpUrl !== undefined) return createSmtpMail(smtpUrl, from)
  return {
    isRemote: false,
    async send(to, letter) {
      await mailbox?.add(to, letter)
      log.info({ to, subject: letter.subject, ...letter.pass }, 'no mail server is set: here is the link of this mail')
    },
  }
}

function createSmtpMail(smtpUrl: string, from: string): Mail {
  // Loaded with the first mail: a start should not wait for what it may never need.
  const connecting = async () => {
    const { createTransport } = await import('nodemailer')
    const patience = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }
    return createTransport({ url: smtpUrl, ...patience }, { from })
  }
  let transport: ReturnType<typeof connecting> | undefined
  return {
    isRemote: true,
    async send(to, { subject, text, html }) {
      transport ??= connecting()
      await (await transport).sendMail({ to, subject, text, html })
    },
  }
}
