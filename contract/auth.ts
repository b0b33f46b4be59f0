import { z } from 'zod'

/** Answer of `GET /config.json`: all that the page must know before it can sign anyone in. */
export const publicConfig = z.object({
  supabaseUrl: z.string(),
  supabaseAnonKey: z.string(),
  testAccount: z.object({ email: z.string(), password: z.string() }).nullable(),
  mailbox: z.string().nullable(),
})
export type PublicConfig = z.infer<typeof publicConfig>

/** One mail of the local mailbox, newest first in `GET /mailbox.json`. */
export const mailboxMail = z.object({
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  sentAt: z.string(),
})
export type MailboxMail = z.infer<typeof mailboxMail>
