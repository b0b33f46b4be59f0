import { createLocalJWKSet, importJWK, type JWK, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import type { Claims } from '#server/database/scope.ts'
import type { Secrets } from './secrets.ts'

const verifiedClaims = z.looseObject({
  role: z.enum(['anon', 'authenticated', 'service_role']),
  exp: z.int(),
  sub: z.uuid().optional(),
  session_id: z.uuid().optional(),
})
export type VerifiedClaims = z.infer<typeof verifiedClaims> & Claims

export interface TokenVerifier {
  /** @throws AppError `unauthenticated` with `details.reason` "expired" or "invalid" */
  verify(token: string): Promise<VerifiedClaims>
}

export interface Tokens extends TokenVerifier {
  /** Keys of the two roles without a person, valid for years. */
  readonly anonKey: string
  readonly serviceRoleKey: string
  readonly jwks: { readonly keys: readonly JWK[] }
  sign(claims: JWTPayload): Promise<string>
}

const TEN_YEARS_S = 10 * 365 * 86_400
/** About 5,000 usual tokens; those of people with much metadata take more. */
const CACHE_BYTES = 20_000_000
/** The parsed claims take about three times the bytes of their token. */
const BYTES_PER_CHARACTER = 4
const BYTES_PER_ENTRY = 500

/** A cached look-up is about a hundred times faster. `check` verifies signature and expiry. */
export function cacheVerified(check: (token: string) => Promise<JWTPayload>): TokenVerifier {
  const verified = new LRUCache<string, VerifiedClaims>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (_claims, token) => BYTES_PER_CHARACTER * token.length + BYTES_PER_ENTRY,
  })

  async function verify(token: string): Promise<VerifiedClaims> {
    const known = verified.get(token)
    if (known) {
      if (known.exp * 1000 > Date.now()) return known
      verified.delete(token)
      throw new AppError('unauthenticated', 'JWT expired', { details: { reason: 'expired' } })
    }
    try {
      const claims = verifiedClaims.parse(await check(token))
      verified.set(token, claims)
      return claims
    } catch (error) {
      if (error instanceof AppError) throw error
      const isExpired = error instanceof Error && 'code' in error && error.code === 'ERR_JWT_EXPIRED'
      throw new AppError(
        'unauthenticated',
        isExpired ? 'JWT expired' : 'invalid JWT: unable to parse or verify signature',
        {
          cause: error,
          details: { reason: isExpired ? 'expired' : 'invalid' },
        },
      )
    }
  }

  return { verify }
}

export async function createTokens(secrets: Secrets): Promise<Tokens> {
  const [newest] = secrets.signingKeys
  if (!newest) throw new AppError('startup', 'The secrets of this installation hold no signing key.')
  const signingKey = await importJWK(newest, 'ES256')
  const jwks = {
    keys: secrets.signingKeys.map(({ kty, crv, x, y, kid }) => ({
      kty,
      crv,
      x,
      y,
      kid,
      alg: 'ES256',
      use: 'sig',
      key_ops: ['verify'],
    })),
  }
  const keySet = createLocalJWKSet({ keys: jwks.keys.map((key) => ({ ...key })) })
  const verifier = cacheVerified(async (token) => (await jwtVerify(token, keySet, { algorithms: ['ES256'] })).payload)

  const sign = (claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: newest.kid, typ: 'JWT' }).sign(signingKey)

  // A fixed time of issue keeps the payload of the keys equal over restarts.
  const issuedAt = 1_735_689_600
  const keyOf = (role: 'anon' | 'service_role') =>
    sign({ iss: 'alcove', role, iat: issuedAt, exp: issuedAt + 2 * TEN_YEARS_S })
  return { anonKey: await keyOf('anon'), serviceRoleKey: await keyOf('service_role'), jwks, sign, ...verifier }
}
