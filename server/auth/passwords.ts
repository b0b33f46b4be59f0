/** Hashing of passwords with argon2id, and what a password must be. */
import { hash, verify } from '@node-rs/argon2'
import { AuthError } from './errors.ts'

/** OWASP's second choice for argon2id (the library's default algorithm): 19 MiB, two passes, one lane. */
export const HASHING = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

/** Hash of random bytes nobody kept: verified where there is no account, so that it takes as long as where there is one. */
export const DUMMY_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$touDKHCGznkkciXDWB0Q3w$jcdi9UiGeLKIowHzAQ5JVJR9qVrr5LpIRPu00NbR3E4'

/** The protocol's limit, in bytes of UTF-8: what is longer would be cut off by a bcrypt that shares our table. */
const LONGEST_PASSWORD_BYTES = 72

export const hashPassword = (password: string): Promise<string> => hash(password, HASHING)

/** Whether a password is the one that was hashed; without a hash it costs the same and is false. */
export async function isRightPassword(stored: string | null | undefined, password: string): Promise<boolean> {
  const isRight = await verify(stored ?? DUMMY_HASH, password)
  return isRight && stored != null
}

export const isWeak = (password: string, minLength: number): boolean => Array.from(password).length < minLength

/** Refuses a new password that is too long (`validation_failed`) or too short (`weak_password`). */
export function requireAcceptablePassword(password: string, minLength: number): void {
  if (Buffer.byteLength(password) > LONGEST_PASSWORD_BYTES) {
    throw new AuthError('validation_failed', `Password cannot be longer than ${LONGEST_PASSWORD_BYTES} characters`)
  }
  if (isWeak(password, minLength)) {
    throw new AuthError('weak_password', `Password should be at least ${minLength} characters.`, {
      body: { weak_password: { reasons: ['length'] } },
    })
  }
}
