/** Keys of an encrypted backup: scrypt over the passphrase, then HKDF for each file. */
import { hkdfSync, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/**
 * Costs of scrypt that OWASP's password storage cheat sheet holds equal; they take 32 MiB and 64 MiB for less than a second.
 * New backups are written with the first one, earlier ones with the second.
 */
const COST = { N: 2 ** 15, r: 8, p: 3 } as const
const EARLIER_COST = { N: 2 ** 16, r: 8, p: 2 } as const

interface Cost {
  readonly N: number
  readonly r: number
  readonly p: number
}

const MAX_SCRYPT_BYTES = 256 * 1024 * 1024
const KEY_BYTES = 32

const recordOf = ({ N, r, p }: Cost) =>
  z.object({
    method: z.literal('scrypt'),
    N: z.literal(N),
    r: z.literal(r),
    p: z.literal(p),
    salt: z.base64(),
    check: z.base64(),
  })

/** `check` tells a wrong passphrase from a damaged file. */
export const passphraseRecord = z.union([recordOf(COST), recordOf(EARLIER_COST)])
export type PassphraseRecord = z.infer<typeof passphraseRecord>

export const deriveKey = (key: Buffer, salt: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, salt, purpose, KEY_BYTES))

const stretch = (passphrase: string, salt: Buffer, { N, r, p }: Cost): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, { N, r, p, maxmem: MAX_SCRYPT_BYTES }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })

const deriveCheck = (key: Buffer, salt: Buffer): Buffer => deriveKey(key, salt, 'alcove backup passphrase check')

export async function createPassphraseRecord(passphrase: string): Promise<{ record: PassphraseRecord; key: Buffer }> {
  const salt = randomBytes(16)
  const key = await stretch(passphrase, salt, COST)
  const check = deriveCheck(key, salt).toString('base64')
  return { record: { method: 'scrypt', ...COST, salt: salt.toString('base64'), check }, key }
}

/** @returns the key, or undefined for another passphrase */
export async function openPassphrase(passphrase: string, record: PassphraseRecord): Promise<Buffer | undefined> {
  const salt = Buffer.from(record.salt, 'base64')
  const key = await stretch(passphrase, salt, record)
  const [wanted, found] = [Buffer.from(record.check, 'base64'), deriveCheck(key, salt)]
  return wanted.length === found.length && timingSafeEqual(wanted, found) ? key : undefined
}
