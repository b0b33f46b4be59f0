/** GET /authorize and /user/identities/authorize redirect to a provider; /callback receives its answer. */
import { type Context, Hono } from 'hono'
import type { Scope } from '#server/database/scope.ts'
import type { Account } from './accounts.ts'
import { AuthError } from './errors.ts'
import { findOrCreateAccount, linkAccount } from './external-accounts.ts'
import { addressBucket, enforceRateLimits } from './rate-limits.ts'
import { beginFlow, issueAuthCode, readChallenge } from './pkce.ts'
import { requireProvider } from './providers/registry.ts'
import type { ProviderResult } from './providers/provider.ts'
import { chooseRedirect, homeOf } from './redirects.ts'
import { writeFailure, writeSession } from './redirect-answer.ts'
import { asAuthError } from './render-error.ts'
import { requireFullLevel, requireSession } from './require-session.ts'
import { visitorOf } from './request.ts'
import type { AuthService } from './service.ts'
import { describeSession } from './session-answer.ts'
import { openSession } from './sessions.ts'
import { beginSignIn, type StartedSignIn, useSignIn } from './sign-in-states.ts'

export function authorizeRoutes(service: AuthService): Hono {
  const { settings } = service
  const app = new Hono()

  app.get('/authorize', async (context) => {
    const address = await redirectToProvider(context, service, undefined)
    return context.redirect(address.href, 302)
  })

  app.get('/user/identities/authorize', async (context) => {
    if (!settings.manualLinking) throw new AuthError('manual_linking_disabled', 'Manual linking is disabled')
    const { account } = requireFullLevel(await requireSession(context, service))
    const address = await redirectToProvider(context, service, account.id)
    const wantsAddress = context.req.query('skip_http_redirect') === 'true'
    return wantsAddress ? context.json({ url: address.href }) : context.redirect(address.href, 302)
  })

  app.get('/callback', async (context) => {
    await enforceRateLimits(service, [addressBucket('callback', visitorOf(context, settings))])
    const signIn = await useSignIn(context, service, context.req.query('state') ?? '')
    const target = signIn?.redirectTo ?? homeOf(settings)
    await redirectBack(context, service, signIn, target)
    return context.redirect(target.href, 303)
  })

  return app
}

async function redirectToProvider(
  context: Context,
  service: AuthService,
  linkingUserId: string | undefined,
): Promise<URL> {
  const { settings } = service
  const {
    provider: name = '',
    redirect_to: redirectTo,
    scopes = '',
    code_challenge = '',
    code_challenge_method = '',
  } = context.req.query()
  const provider = requireProvider(service.providers, name)
  const pkce = readChallenge({ code_challenge, code_challenge_method })
  await enforceRateLimits(service, [addressBucket('authorize', visitorOf(context, settings))])
  const secrets = await beginSignIn(context, service, {
    provider: name,
    redirectTo: chooseRedirect(redirectTo, settings),
    pkce,
    linkingUserId,
  })
  try {
    return await provider.authorizationUrl(
      secrets,
      scopes.split(/[\s,]+/).filter((scope) => scope !== ''),
    )
  } catch (error) {
    throw new AuthError('unexpected_failure', `${provider.label} cannot be reached`, { cause: error })
  }
}

async function redirectBack(
  context: Context,
  service: AuthService,
  signIn: StartedSignIn | undefined,
  target: URL,
): Promise<void> {
  const isPkce = signIn?.pkce !== undefined
  try {
    if (signIn === undefined) throw new AuthError('bad_oauth_state', 'OAuth state not found or expired')
    const arrival = await finishSignIn(context, service, signIn)
    if (isPkce) target.searchParams.set('code', await issueCodeFor(service, signIn, arrival))
    else {
      const grant = await service.database.asAuth(async (scope) =>
        openSession(scope, await resolveAccount(scope, service, signIn, arrival), {
          method: 'oauth',
          visitor: visitorOf(context, service.settings),
        }),
      )
      writeSession(target, await describeSession(context, service, grant), {
        provider_token: arrival.accessToken,
        ...(arrival.refreshToken === undefined ? {} : { provider_refresh_token: arrival.refreshToken }),
      })
    }
  } catch (error) {
    writeFailure(target, asAuthError(error, context, service.log), { isPkce })
  }
}

async function finishSignIn(
  context: Context,
  service: AuthService,
  { provider, secrets }: StartedSignIn,
): Promise<ProviderResult> {
  const { error, error_description: description } = context.req.query()
  const known = requireProvider(service.providers, provider)
  const { label } = known
  if (error !== undefined) {
    throw new AuthError('bad_oauth_callback', description ?? `${label} did not sign you in (${error})`)
  }
  // Behind a proxy, the URL of the request is not the public one.
  const callback = new URL(`${service.settings.siteUrl}/auth/v1/callback`)
  callback.search = new URL(context.req.url).search
  try {
    return await known.finish(callback, secrets)
  } catch (cause) {
    service.log.warn({ err: cause, provider }, 'a sign-in at a provider could not be finished')
    throw new AuthError('bad_oauth_callback', `Unable to exchange the code of ${label}`, { cause })
  }
}

function resolveAccount(
  scope: Scope,
  { providers, settings }: AuthService,
  { provider, linkingUserId }: StartedSignIn,
  { profile }: ProviderResult,
): Promise<Account> {
  const providerSignIn = { provider: requireProvider(providers, provider), profile }
  return linkingUserId === undefined
    ? findOrCreateAccount(scope, providerSignIn, settings)
    : linkAccount(scope, providerSignIn, linkingUserId)
}

const issueCodeFor = (service: AuthService, signIn: StartedSignIn, arrival: ProviderResult): Promise<string> =>
  service.database.asAuth(async (scope) => {
    const { id: userId } = await resolveAccount(scope, service, signIn, arrival)
    const flowId = await beginFlow(scope, { userId, method: 'oauth', pkce: signIn.pkce, provider: signIn.provider })
    if (flowId === undefined) throw new AuthError('unexpected_failure', 'Error beginning a flow')
    return issueAuthCode(scope, flowId)
  })
