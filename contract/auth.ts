import { z } from 'zod'

/** Message of the channels that the server closes because their session has ended. */
export const SESSION_ENDED = 'The session has ended'

/** Answer of `GET /config.json`: what the page needs before sign-in. */
export const publicConfig = z.object({
  supabaseUrl: z.string(),
  supabaseAnonKey: z.string(),
  testAccount: z.object({ email: z.string(), password: z.string() }).nullable(),
  mailbox: z.string().nullable(),
  /** Whether people must set up a second factor before anything else. */
  requiresSecondFactor: z.boolean(),
  /** Whether a phone can be a second factor. */
  hasTextMessages: z.boolean(),
  /** Whether links to conversations may open without an account. */
  hasPublicLinks: z.boolean(),
  /** IANA name of the server's time zone, which servers before 0.2.0 leave out. A page in another one names its own with questions. */
  timeZone: z.string().optional(),
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

/** One row of `GET /auth/v1/sessions`. */
export const openSession = z.object({
  id: z.uuid(),
  created_at: z.string(),
  /** Time of the last token refresh. An open page refreshes its tokens once an hour. */
  used_at: z.string(),
  user_agent: z.string().nullable(),
  address: z.string().nullable(),
  aal: z.string(),
  is_current: z.boolean(),
})
export type OpenSession = z.infer<typeof openSession>

/** Answer of `POST /auth/v1/account/close`: deleted rows per kind, and the size of the deleted documents in bytes. */
export const closingReceipt = z.object({
  id: z.uuid(),
  account: z.string(),
  closed_at: z.string(),
  removed: z.record(z.string(), z.number()),
})
export type ClosingReceipt = z.infer<typeof closingReceipt>
