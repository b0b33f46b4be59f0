/** Rate limits of sign-in, codes and mails, with the error responses of the protocol. */
import { addressKey, WIDER_FACTOR, widerKey } from '#server/access/client-address.ts'
import { accountKey, type AddressBucket, type Bucket, refundAttempt, takeAttempt } from '#server/access/token-bucket.ts'
import { AuthError } from './errors.ts'
import type { Visitor } from './request.ts'
import type { AuthService } from './service.ts'

type Endpoint =
  'authorize' | 'callback' | 'otp' | 'reauthenticate' | 'recover' | 'resend' | 'signup' | 'token' | 'user' | 'verify'
export type LinkKind =
  'confirmation' | 'recovery' | 'magiclink' | 'invitation' | 'email_change_current' | 'email_change_new'
export type MailKind = LinkKind | 'reauthentication'

const FIVE_MINUTES_S = 300
const MAIL_PREFIX = 'mail:'
const SMS_PREFIX = 'sms:'

function bucketsOfAddress(kind: string, { address }: Visitor, limit: Omit<Bucket, 'key'>): AddressBucket {
  const key = addressKey(address)
  const own = { ...limit, key: `${kind}:${key}` }
  const network = widerKey(key)
  if (network === undefined) return own
  const { capacity, refillPerS } = limit
  const wider = { capacity: capacity * WIDER_FACTOR, refillPerS: refillPerS * WIDER_FACTOR }
  return { ...own, wider: { ...wider, key: `${kind}:${network}` } }
}

/** /token allows 150 requests in five minutes (burst 30), others 30. */
export const addressBucket = (endpoint: Endpoint, visitor: Visitor): AddressBucket =>
  bucketsOfAddress(endpoint, visitor, {
    capacity: 30,
    refillPerS: (endpoint === 'token' ? 150 : 30) / FIVE_MINUTES_S,
  })

/** Familiar client addresses have their own bucket, so guesses from elsewhere do not lock the owner out. */
export const passwordBucket = (email: string, visitor: Visitor, isFamiliar: boolean): Bucket => ({
  key: `password:${accountKey(email)}${isFamiliar ? `:${addressKey(visitor.address)}` : ''}`,
  capacity: 10,
  refillPerS: 10 / FIVE_MINUTES_S,
})

/** Wrong codes per account, over all its codes. */
export const codeBucket = (email: string): Bucket => ({
  key: `code:${accountKey(email)}`,
  capacity: 10,
  refillPerS: 10 / 3600,
})

export const anonymousBucket = (visitor: Visitor): AddressBucket =>
  bucketsOfAddress('anonymous', visitor, { capacity: 30, refillPerS: 30 / 3600 })

export const factorAddressBucket = (visitor: Visitor): AddressBucket =>
  bucketsOfAddress('factors', visitor, { capacity: 15, refillPerS: 15 / 60 })

/** Wrong codes per person, over all second factors. */
export const factorBucket = (userId: string): Bucket => ({
  key: `factor-code:${userId}`,
  capacity: 10,
  refillPerS: 10 / 3600,
})

/** Text messages cost money and can reach strangers. */
export const smsBuckets = (phone: string, userId: string): Bucket[] => [
  { key: `${SMS_PREFIX}${accountKey(phone)}`, capacity: 1, refillPerS: 1 / 60 },
  { key: `${SMS_PREFIX}${userId}`, capacity: 10, refillPerS: 10 / 3600 },
]

/** Applies with or without an account. */
const mailBucket = (kind: MailKind, email: string, intervalS: number): Bucket => ({
  key: `${MAIL_PREFIX}${kind}:${accountKey(email)}`,
  capacity: 1,
  refillPerS: 1 / intervalS,
})

export function mailBuckets({ settings }: AuthService, kind: MailKind, email: string): Bucket[] {
  return settings.mailIntervalS > 0 ? [mailBucket(kind, email, settings.mailIntervalS)] : []
}

/**
 * The first bucket is that of the address: beyond it no other one is written, so that made-up accounts do not fill the table
 * and one address does not use up the limit of the network around it.
 * @throws AuthError 429 if a bucket is empty. Tokens taken from other buckets are not returned.
 */
export async function enforceRateLimits(
  { database, settings }: AuthService,
  [first, ...others]: readonly AddressBucket[],
): Promise<void> {
  if (settings.rateLimits === 'off' || first === undefined) return
  const { wider, ...own } = first
  const stages = [[own], wider === undefined ? [] : [wider], others]
  const rejection = await database.asAuth(async (scope) => {
    for (const stage of stages) {
      const exceeded = stage.length > 0 ? await takeAttempt(scope, stage) : undefined
      if (exceeded) return exceeded
    }
    return undefined
  })
  if (rejection === undefined) return
  const { key, retryAfterS } = rejection
  const isMail = key.startsWith(MAIL_PREFIX)
  if (isMail || key.startsWith(SMS_PREFIX)) {
    const message = `For security purposes, you can only request this after ${retryAfterS} seconds.`
    throw new AuthError(isMail ? 'over_email_send_rate_limit' : 'over_sms_send_rate_limit', message, { retryAfterS })
  }
  throw new AuthError('over_request_rate_limit', 'Request rate limit reached', { retryAfterS })
}

export async function refundAttempts({ database }: AuthService, buckets: readonly Bucket[]): Promise<void> {
  await database.asAuth(async (scope) => {
    for (const { key } of buckets) await refundAttempt(scope, key)
  })
}
