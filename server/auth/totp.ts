/** Time-based one-time passwords (RFC 6238: SHA-1, six digits, 30 seconds) and the encryption of their secrets. */
import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { renderSVG } from 'uqr'
import { decrypt, encrypt } from '#server/base/encrypt.ts'

const PERIOD_S = 30
const SECRET_BYTES = 20

export interface TotpEnrolment {
  /** Base32, for manual entry. */
  readonly secret: string
  readonly uri: string
  /** An SVG without "#", which needs no escaping in a data URL. */
  readonly qrCode: string
}

export function createTotp({ issuer, label }: { issuer: string; label: string }): TotpEnrolment {
  const secret = new Secret({ buffer: Uint8Array.from(randomBytes(SECRET_BYTES)).buffer })
  const uri = new TOTP({ issuer, label, secret, period: PERIOD_S }).toString()
  return { secret: secret.base32, uri, qrCode: renderSVG(uri) }
}

/** Accepts the current period and one to either side. Returns the period's number, undefined for a wrong code. */
export function findStep(secret: string, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const delta = new TOTP({ secret, period: PERIOD_S }).validate({ token: code, window: 1, timestamp: nowMs })
  return delta === null ? undefined : Math.floor(nowMs / 1000 / PERIOD_S) + delta
}

/** Bound to the factor; base64. */
export const encryptSecret = (key: Buffer, factorId: string, secret: string): string =>
  encrypt(key, secret, factorId).toString('base64')

/** @throws for a secret of another factor or key. */
export const decryptSecret = (key: Buffer, factorId: string, encrypted: string): string =>
  decrypt(key, Buffer.from(encrypted, 'base64'), factorId)
