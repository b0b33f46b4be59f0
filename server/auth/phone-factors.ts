/** Phone second factors: six digits, valid once and only for their challenge. */
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import type { Scope } from '#server/database/scope.ts'
import { AuthError } from './errors.ts'
import { smsBuckets, enforceRateLimits } from './rate-limits.ts'
import { requirePhone } from './request.ts'
import type { SignedIn } from './require-session.ts'
import type { AuthService } from './service.ts'
import { sendSms, type SmsWebhook } from './sms.ts'

/** Returns the digits of the number. */
export function requirePhoneEnrolment({ settings }: AuthService, phone: string, { account }: SignedIn): string {
  if (settings.smsWebhook === undefined) {
    throw new AuthError('mfa_phone_enroll_not_enabled', 'MFA enroll is disabled for Phone')
  }
  if (phone === '') throw new AuthError('validation_failed', 'Phone number required to enroll Phone factor')
  const digits = requirePhone(phone)
  const isKnown = account.factors.some((factor) => factor.phone === digits && factor.status === 'verified')
  if (isKnown) {
    const message = 'A verified phone factor already exists, unenroll the existing factor to continue'
    throw new AuthError('mfa_verified_factor_exists', message)
  }
  return digits
}

/** @throws AuthError `mfa_phone_verify_not_enabled`, `validation_failed` for a channel that is not offered. */
function requireSms({ settings }: AuthService, channel: string): SmsWebhook {
  if (settings.smsWebhook === undefined) {
    throw new AuthError('mfa_phone_verify_not_enabled', 'MFA verification is disabled for Phone')
  }
  if (channel !== '' && channel !== 'sms') {
    throw new AuthError('validation_failed', 'Invalid channel, supported values are: sms')
  }
  return settings.smsWebhook
}

/** Returns the hash to store, and a function that sends the code once the hash is stored. */
export async function preparePhoneCode(
  service: AuthService,
  { account: { id: userId } }: SignedIn,
  { challengeId, phone, channel }: { challengeId: string; phone: string; channel: string },
): Promise<{ hash: string; send: () => Promise<void> }> {
  const webhook = requireSms(service, channel)
  await enforceRateLimits(service, smsBuckets(phone, userId))
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  return {
    hash: hashOf(service, challengeId, code),
    async send() {
      try {
        await sendSms(webhook, { userId, phone, code })
      } catch (cause) {
        service.log.warn({ err: cause }, 'a text message could not be sent')
        throw new AuthError('sms_send_failed', 'Error sending sms', { cause })
      }
    },
  }
}

const hashOf = ({ keys }: AuthService, challengeId: string, code: string): string =>
  createHmac('sha256', keys.codes).update(`phone factor ${challengeId} ${code}`).digest('hex')

/** @throws AuthError `mfa_verification_failed` for a wrong code. */
export async function checkPhoneCode(
  scope: Scope,
  service: AuthService,
  { challengeId, code }: { challengeId: string; code: string },
): Promise<void> {
  const found = await scope.query<{ otp_code: string | null }>(
    'select otp_code from auth.mfa_challenges where id::text = $1',
    [challengeId],
  )
  const stored = Buffer.from(found.rows[0]?.otp_code ?? '')
  const brought = Buffer.from(hashOf(service, challengeId, code))
  if (stored.length === brought.length && timingSafeEqual(stored, brought)) return
  throw new AuthError('mfa_verification_failed', 'Invalid MFA Phone code entered')
}
