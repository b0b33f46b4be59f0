/** How often what may be tried, and the answers of the protocol when it was too often. */
import { accountKey, type Bucket, refundAttempt, takeAttempt } from '#server/access/rate-limit.ts'
import { addressKey } from '#server/access/client-address.ts'
import { AuthError } from './errors.ts'
import { type Visitor } from './request.ts'
import { type AuthService } from './service.ts'

type Endpoint =
  'authorize' | 'callback' | 'otp' | 'reauthenticate' | 'recover' | 'resend' | 'signup' | 'token' | 'user' | 'verify'
/** Mails that carry a link. */
export type LinkKind =
  'confirmation' | 'recovery' | 'magiclink' | 'invitation' | 'email_change_current' | 'email_change_new'
export type MailKind = LinkKind | 'reauthentication'

const FIVE_MINUTES_S = 300
const MAIL_PREFIX = 'mail:'
const SMS_PREFIX = 'sms:'

/** Attempts of one address at one endpoint: 150 in five minutes at /token (30 at once), 30 anywhere else. */
export const addressBucket = (endpoint: Endpoint, { address }: Visitor): Bucket => ({
  key: `${endpoint}:${addressKey(address)}`,
  capacity: 30,
  refillPerS: (endpoint === 'token' ? 150 : 30) / FIVE_MINUTES_S,
})

/**
 * Wrong passwords for one account: ten in five minutes. An address that the account was signed in from lately counts for
 * itself, so that who guesses from elsewhere does not lock the owner out.
 */
export const passwordBucket = (email: string, visitor: Visitor, isFamiliar: boolean): Bucket => ({
  key: `password:${accountKey(email)}${isFamiliar ? `:${addressKey(visitor.address)}` : ''}`,
  capacity: 10,
  refillPerS: 10 / FIVE_MINUTES_S,
})

/** Wrong codes for one account, over all the codes that it is sent: ten, and ten more in an hour. */
export const codeBucket = (email: string): Bucket => ({
  key: `code:${accountKey(email)}`,
  capacity: 10,
  refillPerS: 10 / 3600,
})

/** Anonymous accounts from one address: 30 in an hour. */
export const anonymousBucket = ({ address }: Visitor): Bucket => ({
  key: `anonymous:${addressKey(address)}`,
  capacity: 30,
  refillPerS: 30 / 3600,
})

/** Attempts of one address at challenges and codes of second factors: 15 in a minute. */
export const factorAddressBucket = ({ address }: Visitor): Bucket => ({
  key: `factors:${addressKey(address)}`,
  capacity: 15,
  refillPerS: 15 / 60,
})

/** Wrong codes for one person's second factors, over all of them: ten, and ten more in an hour. */
export const factorBucket = (userId: string): Bucket => ({
  key: `factor-code:${userId}`,
  capacity: 10,
  refillPerS: 10 / 3600,
})

/** Text messages cost money and reach strangers: one a minute to a number, and ten an hour for a person. */
export const smsBuckets = (phone: string, userId: string): Bucket[] => [
  { key: `${SMS_PREFIX}${accountKey(phone)}`, capacity: 1, refillPerS: 1 / 60 },
  { key: `${SMS_PREFIX}${userId}`, capacity: 10, refillPerS: 10 / 3600 },
]

/** One mail of a kind to one address per interval, whether an account has that address or not. */
const mailBucket = (kind: MailKind, email: string, intervalS: number): Bucket => ({
  key: `${MAIL_PREFIX}${kind}:${accountKey(email)}`,
  capacity: 1,
  refillPerS: 1 / intervalS,
})

/** The bucket of a mail; none where no interval is set. */
export function mailBuckets({ settings }: AuthService, kind: MailKind, email: string): Bucket[] {
  return settings.mailIntervalS > 0 ? [mailBucket(kind, email, settings.mailIntervalS)] : []
}

/** @throws AuthError 429 where one of the buckets is empty. What was taken stays taken. */
export async function requireAttempt({ database, settings }: AuthService, buckets: readonly Bucket[]): Promise<void> {
  if (settings.rateLimits === 'off' || buckets.length === 0) return
  const refusal = await database.asAuth((scope) => takeAttempt(scope, buckets))
  if (refusal === undefined) return
  const { key, retryAfterS } = refusal
  const isMail = key.startsWith(MAIL_PREFIX)
  if (isMail || key.startsWith(SMS_PREFIX)) {
    const message = `For security purposes, you can only request this after ${retryAfterS} seconds.`
    throw new AuthError(isMail ? 'over_email_send_rate_limit' : 'over_sms_send_rate_limit', message, { retryAfterS })
  }
  throw new AuthError('over_request_rate_limit', 'Request rate limit reached', { retryAfterS })
}

/** Lets an attempt that did not count be made again. */
export async function giveBack({ database }: AuthService, buckets: readonly Bucket[]): Promise<void> {
  await database.asAuth(async (scope) => {
    for (const { key } of buckets) await refundAttempt(scope, key)
  })
}
