/** The local mailbox in the database replaces a mail server in a local set-up. */
import type { MailboxMail } from '#contract/auth.ts'
import type { Database } from '#server/database/scope.ts'
import type { MailMessage } from './templates.ts'

const MAX_MAILS = 200

export interface Mailbox {
  add(to: string, message: MailMessage): Promise<void>
  /** Newest first. */
  list(): Promise<MailboxMail[]>
}

export function createMailbox(database: Database): Mailbox {
  return {
    add: (to, { subject, text, html }) =>
      database.asAuth(async (scope) => {
        const added = await scope.query<{ id: number }>(
          `insert into auth.local_mails (recipient, subject, text, html) values ($1, $2, $3, $4) returning id`,
          [to, subject, text, html],
        )
        await scope.query('delete from auth.local_mails where id <= $1::bigint - $2', [added.rows[0]?.id, MAX_MAILS])
      }),
    list: () =>
      database.asAuth(async (scope) => {
        const mails = await scope.query<Omit<MailboxMail, 'sentAt'> & { sentAt: Date }>(
          `select recipient as to, subject, text, html, sent_at as "sentAt" from auth.local_mails order by id desc`,
        )
        return mails.rows.map((mail) => ({ ...mail, sentAt: mail.sentAt.toISOString() }))
      }),
  }
}
