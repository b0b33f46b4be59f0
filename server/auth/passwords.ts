/** Hashing of passwords with argon2id, and what a password must be. */
import { hash, verify } from '@node-rs/argon2'
import { isCommonPassword } from './common-passwords.ts'
import { AuthError } from './errors.ts'

/** As other servers keep them: the passwords of people who were moved here from one. */
const BCRYPT = /^\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}$/
const ARGON2ID = /^\$argon2id\$/

/** OWASP's second choice for argon2id (the library's default algorithm): 19 MiB, two passes, one lane. */
export const HASHING = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

/** Hash of random bytes nobody kept: verified where there is no account, so that it takes as long as where there is one. */
export const DUMMY_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$touDKHCGznkkciXDWB0Q3w$jcdi9UiGeLKIowHzAQ5JVJR9qVrr5LpIRPu00NbR3E4'

/** The protocol's limit, in bytes of UTF-8: what is longer would be cut off by a bcrypt that shares our table. */
const LONGEST_PASSWORD_BYTES = 72

export const hashPassword = (password: string): Promise<string> => hash(password, HASHING)

/** Whether a password can be held against a hash of this kind. */
export const isKnownHash = (hash: string): boolean => ARGON2ID.test(hash) || BCRYPT.test(hash)

/** Whether a hash is of a kind that is accepted, but no longer made. */
export const isOutdatedHash = (stored: string | null | undefined): boolean => stored != null && BCRYPT.test(stored)

/** Whether a password is the one that was hashed; without a hash it costs the same and is false. */
export async function isRightPassword(stored: string | null | undefined, password: string): Promise<boolean> {
  if (stored != null && isOutdatedHash(stored)) {
    const { default: bcrypt } = await import('bcryptjs')
    return bcrypt.compare(password, stored)
  }
  const isRight = await verify(stored ?? DUMMY_HASH, password)
  return isRight && stored != null
}

/** What the operator demands of a new password. */
export interface PasswordRules {
  readonly minPasswordLength: number
  readonly commonPasswords: 'refuse' | 'accept'
}

/** Why a password is weak, by the names of the protocol and in words; undefined where it is not. */
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

/** Refuses a new password that is too long (`validation_failed`), too short or too common (`weak_password`). */
export function requireAcceptablePassword(password: string, rules: PasswordRules): void {
  if (Buffer.byteLength(password) > LONGEST_PASSWORD_BYTES) {
    throw new AuthError('validation_failed', `Password cannot be longer than ${LONGEST_PASSWORD_BYTES} characters`)
  }
  const weakness = weaknessOf(password, rules)
  if (weakness === undefined) return
  const { reasons, message } = weakness
  throw new AuthError('weak_password', message, { body: { weak_password: { reasons } } })
}
