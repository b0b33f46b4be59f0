/** POST /token?grant_type=id_token: a session for what a provider gave a program by itself, as phones do it. */
import { type Context } from 'hono'
import { decodeJwt } from 'jose'
import { z } from 'zod'
import { AuthError, OAuthError } from './errors.ts'
import { accountOf, linkAccount } from './external-accounts.ts'
import { addressBucket, requireAttempt } from './limits.ts'
import { optionalText, readBody, type Visitor } from './request.ts'
import { requireFullLevel, requireSession } from './require-session.ts'
import { type AuthService } from './service.ts'
import { type Grant, openSession } from './sessions.ts'

const idTokenBody = z.object({
  provider: optionalText,
  id_token: optionalText,
  access_token: optionalText,
  nonce: optionalText,
  link_identity: z.boolean().nullish(),
})

/** @throws AuthError `provider_disabled`, OAuthError where the token is not one for us, and as `accountOf` does. */
export async function signInWithIdToken(context: Context, service: AuthService, visitor: Visitor): Promise<Grant> {
  const body = await readBody(context, idTokenBody)
  if (body.id_token === '') throw new OAuthError('invalid request', 'id_token required')
  await requireAttempt(service, [addressBucket('token', visitor)])
  const provider = service.providers.get(body.provider)
  if (provider?.readIdToken === undefined) {
    const message = `Provider (issuer "${issuerOf(body.id_token) ?? body.provider}") is not enabled`
    throw new AuthError('provider_disabled', message)
  }
  const linking = body.link_identity === true ? await requireLinking(context, service) : undefined
  const { id_token: idToken, access_token: accessToken, nonce } = body
  const arriving = { provider, profile: await provider.readIdToken({ idToken, accessToken, nonce }) }
  return service.database.asAuth(async (scope) => {
    const account = await (linking === undefined
      ? accountOf(scope, arriving, service.settings)
      : linkAccount(scope, arriving, linking.account.id))
    return openSession(scope, account, { method: 'oauth', visitor })
  })
}

async function requireLinking(context: Context, service: AuthService) {
  if (!service.settings.manualLinking) {
    throw new AuthError('manual_linking_disabled', 'Manual linking is disabled')
  }
  return requireFullLevel(await requireSession(context, service))
}

/** Whom a token that is not believed claims to be from, for the words of the refusal. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}
