import { createRemoteJWKSet, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import { AppError, codeOf } from '#server/base/errors.ts'
import { cacheVerified, type TokenVerifier } from './tokens.ts'

/** HS256 is missing on purpose: a published key must not count as a shared secret. */
const ASYMMETRIC = ['ES256', 'RS256', 'EdDSA']
const UNREACHABLE_CODES = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC'])

/** The header chooses only the verifier; each verifier has a fixed algorithm. */
function isSymmetric(token: string): boolean {
  try {
    return decodeProtectedHeader(token).alg === 'HS256'
  } catch {
    return false
  }
}

/** Sessions of other issuers are not in this database, where each would count as one that has ended. */
function withoutSession({ session_id: _, ...claims }: JWTPayload): JWTPayload {
  return claims
}

export function acceptSharedSecret(verifier: TokenVerifier, secret: string | undefined): TokenVerifier {
  if (secret === undefined) return verifier
  const key = new TextEncoder().encode(secret)
  const shared = cacheVerified(async (token) =>
    withoutSession((await jwtVerify(token, key, { algorithms: ['HS256'] })).payload),
  )
  return { verify: (token) => (isSymmetric(token) ? shared : verifier).verify(token) }
}

/** Accepts tokens of a Supabase project. Verifying throws AppError `unavailable` if its keys cannot be fetched. */
export function acceptProject(url: string): TokenVerifier {
  const keys = createRemoteJWKSet(new URL(`${url}/auth/v1/.well-known/jwks.json`))
  return cacheVerified(async (token) => {
    try {
      const options = { algorithms: ASYMMETRIC, issuer: `${url}/auth/v1` }
      return withoutSession((await jwtVerify(token, keys, options)).payload)
    } catch (error) {
      const code = codeOf(error)
      const isUnreachable = code === undefined ? error instanceof TypeError : UNREACHABLE_CODES.has(code)
      if (!isUnreachable) throw error
      throw new AppError('unavailable', 'The keys of the sign-in service cannot be reached.', { cause: error })
    }
  })
}
