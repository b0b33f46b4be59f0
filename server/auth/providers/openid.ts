/** OpenID Connect with discovery, for Google and other issuers. */
import { createHash } from 'node:crypto'
import { createRemoteJWKSet, customFetch as joseFetch, decodeProtectedHeader, jwtVerify, type JWTPayload } from 'jose'
import * as openid from 'openid-client'
import { z } from 'zod'
import { OAuthError } from '#server/auth/errors.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { IdTokenGrant, Profile, Provider, ProviderSettings } from './provider.ts'

type OpenIdSettings = Extract<ProviderSettings, { kind: 'openid' }>

const DISCOVERY_LIFETIME_MS = 3_600_000
const SCOPES = ['openid', 'email', 'profile']
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

const claimsSchema = z.object({
  sub: z.string().min(1).max(255),
  email: z.string().optional(),
  // Some issuers write their booleans as text.
  email_verified: z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]).optional(),
  name: z.string().optional(),
  picture: z.string().optional(),
  preferred_username: z.string().optional(),
})

function profileOf(iss: string, claims: unknown): Profile {
  const { sub, email, email_verified: isVerified, name, picture, preferred_username: user } = claimsSchema.parse(claims)
  return {
    subject: sub,
    email,
    isEmailVerified: isVerified === true,
    details: {
      iss,
      ...(name === undefined ? {} : { name, full_name: name }),
      ...(picture === undefined ? {} : { picture, avatar_url: picture }),
      ...(user === undefined ? {} : { preferred_username: user }),
    },
  }
}

/** `redirectUri` is read at each use. */
export function createOpenIdProvider(settings: OpenIdSettings, redirectUri: () => string): Provider {
  const { issuer, clientIds, clientSecret } = settings
  const [clientId] = clientIds
  let known: { config: Promise<openid.Configuration>; until: number } | undefined

  const discover = async () =>
    openid.discovery(
      new URL(issuer),
      clientId,
      clientSecret,
      clientSecret === undefined ? openid.None() : openid.ClientSecretPost(clientSecret),
      {
        [openid.customFetch]: boundedFetch,
        // The settings allow http only for an issuer on this machine.
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to stand out
        ...(issuer.startsWith('http:') ? { execute: [openid.allowInsecureRequests] } : {}),
      },
    )
  const configuration = (): Promise<openid.Configuration> => {
    if (known !== undefined && known.until > Date.now()) return known.config
    const asked = { config: discover(), until: Date.now() + DISCOVERY_LIFETIME_MS }
    known = asked
    // The next sign-in retries a failed discovery.
    asked.config.catch(() => known === asked && (known = undefined))
    return asked.config
  }
  const keysOf = new WeakMap<openid.Configuration, ReturnType<typeof createRemoteJWKSet>>()
  const keysFor = (config: openid.Configuration) => {
    const { jwks_uri: address } = config.serverMetadata()
    if (address === undefined) throw new Error(`${issuer} does not say where its keys are.`)
    const keys = keysOf.get(config) ?? createRemoteJWKSet(new URL(address), { [joseFetch]: boundedFetch })
    keysOf.set(config, keys)
    return keys
  }

  return {
    name: settings.name,
    label: settings.label,

    async authorizationUrl({ state, nonce, verifier }, scopes) {
      return openid.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri(),
        scope: [...new Set([...SCOPES, ...scopes])].join(' '),
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
    },

    async finish(callback, { state, nonce, verifier }) {
      const config = await configuration()
      const tokens = await openid.authorizationCodeGrant(config, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      // Verify the signature although the token endpoint sent the token.
      const { payload } = await jwtVerify(tokens.id_token ?? '', keysFor(config), {
        issuer: config.serverMetadata().issuer,
        audience: clientId,
        algorithms: ALGORITHMS,
      })
      // Address and verification flag must come from one source.
      const hasMore = payload['email'] === undefined && config.serverMetadata().userinfo_endpoint !== undefined
      const claims = hasMore ? await openid.fetchUserInfo(config, tokens.access_token, payload.sub ?? '') : payload
      return {
        profile: profileOf(issuer, claims),
        accessToken: tokens.access_token,
        refreshToken: tokens.refresh_token,
      }
    },

    async readIdToken(given) {
      const config = await configuration()
      const payload = await verifyIdToken(given.idToken, keysFor(config), config.serverMetadata().issuer)
      requireAudience(payload, clientIds)
      requireNonce(payload, given.nonce)
      requireSameGrant(payload, given)
      return profileOf(issuer, payload)
    },
  }
}

async function verifyIdToken(token: string, keys: ReturnType<typeof createRemoteJWKSet>, issuer: string) {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp', 'iat', 'sub'],
    })
    return payload
  } catch (error) {
    throw new OAuthError('invalid request', 'Bad ID token', { cause: error })
  }
}

function requireAudience({ aud = [] }: JWTPayload, clientIds: readonly string[]): void {
  const audiences = [aud].flat()
  if (audiences.some((audience) => clientIds.includes(audience))) return
  throw new OAuthError('invalid request', `Unacceptable audience in id_token: [${audiences.join(' ')}]`)
}

/** The client sends the nonce; the ID token contains its SHA-256. */
function requireNonce({ nonce: claimed }: JWTPayload, nonce: string): void {
  if ((nonce === '') !== (claimed === undefined)) {
    const message = 'Passed nonce and nonce in id_token should either both exist or not.'
    throw new OAuthError('invalid request', message)
  }
  if (nonce !== '' && claimed !== createHash('sha256').update(nonce).digest('hex')) {
    throw new OAuthError('invalid nonce', 'Nonces mismatch')
  }
}

/** Checks `at_hash`, if present (OpenID Connect Core, 3.1.3.6). */
function requireSameGrant({ at_hash: claimed }: JWTPayload, { idToken, accessToken }: IdTokenGrant): void {
  if (claimed === undefined || accessToken === '') return
  const bits = /(?:256|384|512)$/.exec(decodeProtectedHeader(idToken).alg ?? '')?.[0] ?? '512'
  const digest = createHash(`sha${bits}`).update(accessToken).digest()
  if (digest.subarray(0, digest.length / 2).toString('base64url') !== claimed) {
    throw new OAuthError('invalid request', 'Access token does not belong to the ID token')
  }
}
