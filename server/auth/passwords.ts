/** Hashes passwords with argon2id and validates new ones. */
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { currentCaller } from '#server/base/caller.ts'
import { createSemaphore } from '#server/base/semaphore.ts'
import { isCommonPassword } from './common-passwords.ts'
import { AuthError } from './errors.ts'

/** Accepted for accounts imported from other servers. */
const BCRYPT = /^\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}$/
const ARGON2ID = /^\$argon2id\$/

/** OWASP parameters for argon2id: 19 MiB, two passes, one lane. */
export const HASHING = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

/** Hash of discarded random bytes, verified for unknown accounts so that the time does not reveal them. */
export const DUMMY_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$touDKHCGznkkciXDWB0Q3w$jcdi9UiGeLKIowHzAQ5JVJR9qVrr5LpIRPu00NbR3E4'

/** The protocol's limit in UTF-8 bytes; bcrypt ignores further bytes. */
const MAX_PASSWORD_BYTES = 72

/** A hash occupies a processor for tens of milliseconds. Half of them stay free for requests and PostgreSQL. */
const limitHashes = createSemaphore(Math.max(1, Math.floor(availableParallelism() / 2)))

/** Callers take turns, so that a flood of sign-ins delays another one by a single hash. */
const hashInTurn = <T>(run: () => Promise<T>): Promise<T> => limitHashes(run, currentCaller())

export const hashPassword = (password: string): Promise<string> => hashInTurn(() => hash(password, HASHING))

export const isKnownHash = (hash: string): boolean => ARGON2ID.test(hash) || BCRYPT.test(hash)

export const isOutdatedHash = (stored: string | null | undefined): boolean => stored != null && BCRYPT.test(stored)

/** Without a hash, takes equally long and returns false. */
export async function isRightPassword(stored: string | null | undefined, password: string): Promise<boolean> {
  if (stored != null && isOutdatedHash(stored)) {
    const { default: bcrypt } = await import('bcryptjs')
    return hashInTurn(() => bcrypt.compare(password, stored))
  }
  const isRight = await hashInTurn(() => verify(stored ?? DUMMY_HASH, password))
  return isRight && stored != null
}

export interface PasswordRules {
  readonly minPasswordLength: number
  readonly commonPasswords: 'refuse' | 'accept'
}

/** Returns the protocol's reason names and a message; undefined for a strong password. */
export function weaknessOf(password: string, { minPasswordLength: minLength, commonPasswords }: PasswordRules) {
  const found = [
    ...(Array.from(password).length < minLength
      ? [['length', `Password should be at least ${minLength} characters.`] as const]
      : []),
    ...(commonPasswords === 'refuse' && isCommonPassword(password)
      ? [['pwned', 'Password is known to be weak and easy to guess, please choose a different one.'] as const]
      : []),
  ]
  if (found.length === 0) return undefined
  return { reasons: found.map(([reason]) => reason), message: found.map(([, message]) => message).join(' ') }
}

/** @throws AuthError `validation_failed` if too long, `weak_password` if too short or too common. */
export function requireAcceptablePassword(password: string, rules: PasswordRules): void {
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) {
    throw new AuthError('validation_failed', `Password cannot be longer than ${MAX_PASSWORD_BYTES} characters`)
  }
  const weakness = weaknessOf(password, rules)
  if (weakness === undefined) return
  const { reasons, message } = weakness
  throw new AuthError('weak_password', message, { body: { weak_password: { reasons } } })
}
