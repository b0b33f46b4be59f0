/** POST /token?grant_type=id_token: exchanges an ID token of a provider for a session, as mobile apps do. */
import type { Context } from 'hono'
import { decodeJwt } from 'jose'
import { z } from 'zod'
import { AuthError, OAuthError } from './errors.ts'
import { findOrCreateAccount, linkAccount } from './external-accounts.ts'
import { addressBucket, enforceRateLimits } from './rate-limits.ts'
import { optionalText, readBody, type Visitor } from './request.ts'
import { requireFullLevel, requireSession } from './require-session.ts'
import type { AuthService } from './service.ts'
import { type Grant, openSession } from './sessions.ts'

const idTokenBody = z.object({
  provider: optionalText,
  id_token: optionalText,
  access_token: optionalText,
  nonce: optionalText,
  link_identity: z.boolean().nullish(),
})

/** @throws AuthError `provider_disabled`, OAuthError for an invalid token, and as `findOrCreateAccount` does. */
export async function signInWithIdToken(context: Context, service: AuthService, visitor: Visitor): Promise<Grant> {
  const body = await readBody(context, idTokenBody)
  if (body.id_token === '') throw new OAuthError('invalid request', 'id_token required')
  await enforceRateLimits(service, [addressBucket('token', visitor)])
  const provider = service.providers.get(body.provider)
  if (provider?.readIdToken === undefined) {
    const message = `Provider (issuer "${issuerOf(body.id_token) ?? body.provider}") is not enabled`
    throw new AuthError('provider_disabled', message)
  }
  const linking = body.link_identity === true ? await requireLinking(context, service) : undefined
  const { id_token: idToken, access_token: accessToken, nonce } = body
  const providerSignIn = { provider, profile: await provider.readIdToken({ idToken, accessToken, nonce }) }
  return service.database.asAuth(async (scope) => {
    const account = await (linking === undefined
      ? findOrCreateAccount(scope, providerSignIn, service.settings)
      : linkAccount(scope, providerSignIn, linking.account.id))
    return openSession(scope, account, { method: 'oauth', visitor })
  })
}

async function requireLinking(context: Context, service: AuthService) {
  if (!service.settings.manualLinking) {
    throw new AuthError('manual_linking_disabled', 'Manual linking is disabled')
  }
  return requireFullLevel(await requireSession(context, service))
}

/** Reads an unverified token, for the error message only. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}
