/** Tokens that somebody else has signed: with a secret shared with us, or with the published keys of a Supabase project. */
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { AppError, codeOf } from '#server/base/errors.ts'
import { rememberVerified, type TokenVerifier } from './tokens.ts'

/** Of keys that are published; a shared secret never stands among them. */
const ASYMMETRIC = ['ES256', 'RS256', 'EdDSA']
/** What jose calls a key set that could not be fetched, as against a token that is not good. */
const UNREACHABLE_CODES = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC'])

/** Which way a token goes is all that its header decides: what it is then checked with is fixed. */
function isSymmetric(token: string): boolean {
  try {
    return decodeProtectedHeader(token).alg === 'HS256'
  } catch {
    return false
  }
}

/**
 * Also accepts tokens signed with the secret (HS256). Their sessions are not ours to look up.
 * @param secret undefined: there is none, and nothing changes.
 */
export function acceptSharedSecret(verifier: TokenVerifier, secret: string | undefined): TokenVerifier {
  if (secret === undefined) return verifier
  const key = new TextEncoder().encode(secret)
  const shared = rememberVerified(async (token) => (await jwtVerify(token, key, { algorithms: ['HS256'] })).payload)
  return { verify: (token) => (isSymmetric(token) ? shared : verifier).verify(token) }
}

/**
 * Accepts what the auth service of a Supabase project has signed, by the keys that it publishes.
 * @param url address of the project, without a slash at its end.
 * Verifying throws AppError `unavailable` where the keys cannot be had: the token may be good.
 */
export function acceptProject(url: string): TokenVerifier {
  const keys = createRemoteJWKSet(new URL(`${url}/auth/v1/.well-known/jwks.json`))
  return rememberVerified(async (token) => {
    try {
      return (await jwtVerify(token, keys, { algorithms: ASYMMETRIC, issuer: `${url}/auth/v1` })).payload
    } catch (error) {
      const code = codeOf(error)
      const isUnreachable = code === undefined ? error instanceof TypeError : UNREACHABLE_CODES.has(code)
      if (!isUnreachable) throw error
      throw new AppError('unavailable', 'The keys of the sign-in service cannot be reached.', { cause: error })
    }
  })
}
