/** Time-based one-time passwords (RFC 6238: SHA-1, six digits, 30 seconds) and the encryption of their secrets. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { renderSVG } from 'uqr'

const PERIOD_S = 30
const SECRET_BYTES = 20
const NONCE_BYTES = 12
const TAG_BYTES = 16

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

/** AES-256-GCM, bound to the factor: nonce, tag and text, base64. */
export function encryptSecret(key: Buffer, factorId: string, secret: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(factorId))
  const encrypted = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64')
}

/** @throws for a secret of another factor or key. */
export function decryptSecret(key: Buffer, factorId: string, encrypted: string): string {
  const bytes = Buffer.from(encrypted, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(factorId))
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
