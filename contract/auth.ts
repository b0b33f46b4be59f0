import { z } from 'zod'

/** Answer of `GET /config.json`: all that the page must know before it can sign anyone in. */
export const publicConfig = z.object({
  supabaseUrl: z.string(),
  supabaseAnonKey: z.string(),
  testAccount: z.object({ email: z.string(), password: z.string() }).nullable(),
  mailbox: z.string().nullable(),
  /** Whether who has no second factor has to set one up before anything else. */
  requiresSecondFactor: z.boolean(),
  /** Whether a phone can be a second factor. */
  hasTextMessages: z.boolean(),
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

/** One row of `GET /auth/v1/sessions`: where a person is signed in. */
export const openSession = z.object({
  id: z.uuid(),
  created_at: z.string(),
  /** When its tokens were last renewed, which a page that is open does once an hour. */
  used_at: z.string(),
  user_agent: z.string().nullable(),
  address: z.string().nullable(),
  aal: z.string(),
  is_current: z.boolean(),
})
export type OpenSession = z.infer<typeof openSession>

/** Answer of `POST /auth/v1/account/close`: what was removed, as rows per kind; `document_bytes` is a size. */
export const closingReceipt = z.object({
  id: z.uuid(),
  account: z.string(),
  closed_at: z.string(),
  removed: z.record(z.string(), z.number()),
})
export type ClosingReceipt = z.infer<typeof closingReceipt>
