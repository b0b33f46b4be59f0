/** SAML 2.0 single sign-on: POST /sso, POST /sso/saml/acs, GET /sso/saml/finish (own page), GET /sso/saml/metadata. */
import { createHash } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { AuthError } from '#server/auth/errors.ts'
import { beginFlow, challengeMembers, issueAuthCode, readChallenge, useAuthCode } from '#server/auth/pkce.ts'
import { addressBucket, enforceRateLimits } from '#server/auth/rate-limits.ts'
import { writeFailure, writeSession } from '#server/auth/redirect-answer.ts'
import { chooseRedirect, homeOf, isOwnPage } from '#server/auth/redirects.ts'
import { asAuthError } from '#server/auth/render-error.ts'
import { optionalText, readBody, visitorOf } from '#server/auth/request.ts'
import { addressesOf, readResponse, createRequestUrl, type SamlProviderSettings } from '#server/auth/saml/provider.ts'
import type { AuthService } from '#server/auth/service.ts'
import { describeSession } from '#server/auth/session-answer.ts'
import { openSession } from '#server/auth/sessions.ts'
import { browserSecret, knownBrowserSecret } from '#server/auth/sign-in-states.ts'
import type { Scope } from '#server/database/scope.ts'
import { providerNameOf, findOrCreateSsoAccount } from './saml-accounts.ts'
import { beginSsoSignIn, type PendingSsoSignIn, useAssertion, useSsoSignIn } from './saml-sign-ins.ts'

const METHOD = 'sso/saml'

const ssoBody = z.object({
  provider_id: optionalText,
  domain: optionalText,
  redirect_to: optionalText,
  skip_http_redirect: z.boolean().nullish(),
  ...challengeMembers,
})

export function ssoRoutes(service: AuthService): Hono {
  const { settings } = service
  const app = new Hono()
  app.use('/sso/*', async function refuseWithoutProviders(_context, next) {
    if (settings.samlProviders.length === 0) throw new AuthError('saml_provider_disabled', 'SAML 2.0 is disabled')
    await next()
  })

  app.post('/sso', async (context) => {
    const body = await readBody(context, ssoBody)
    await enforceRateLimits(service, [addressBucket('authorize', visitorOf(context, settings))])
    const provider = chooseProvider(settings.samlProviders, body)
    const redirectTo = chooseRedirect(body.redirect_to === '' ? undefined : body.redirect_to, settings)
    const asked = readChallenge(body)
    const isInOwnPage = asked === undefined && isOwnPage(redirectTo, settings)
    // Only the browser that began may enter the page: its cookie acts as the PKCE verifier.
    const pkce = isInOwnPage
      ? { method: 's256' as const, challenge: challengeOf(browserSecret(context, service)) }
      : asked
    const ids = await beginSsoSignIn(service, { providerId: provider.id, redirectTo, pkce, isInOwnPage })
    const address = await createRequestUrl(provider, { siteUrl: settings.siteUrl, ...ids })
    return body.skip_http_redirect === true ? context.json({ url: address.href }) : context.redirect(address.href, 303)
  })

  app.get('/sso/saml/metadata', async (context) => {
    const { generateServiceProviderMetadata } = await import('@node-saml/node-saml')
    const { metadata, consumer } = addressesOf(settings.siteUrl)
    const xml = generateServiceProviderMetadata({
      issuer: metadata,
      callbackUrl: consumer,
      identifierFormat: null,
      wantAssertionsSigned: true,
      generateUniqueId: () => `_${createHash('sha256').update(metadata).digest('hex')}`,
    })
    if (context.req.query('download') === 'true') {
      context.header('content-disposition', 'attachment; filename="metadata.xml"')
    }
    return context.body(xml, 200, { 'content-type': 'application/xml; charset=utf-8' })
  })

  app.post('/sso/saml/acs', async (context) => {
    await enforceRateLimits(service, [addressBucket('callback', visitorOf(context, settings))])
    const form = new URLSearchParams(await context.req.text())
    const signIn = await useSsoSignIn(service, form.get('RelayState') ?? '')
    const target = await redirectBack(context, service, signIn, form.get('SAMLResponse') ?? '')
    return context.redirect(target.href, 303)
  })

  app.get('/sso/saml/finish', async (context) => {
    await enforceRateLimits(service, [addressBucket('callback', visitorOf(context, settings))])
    const target = chooseRedirect(context.req.query('redirect_to'), settings)
    await enterOwnPage(context, service, target)
    return context.redirect(target.href, 303)
  })

  return app
}

const challengeOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

function chooseProvider(
  providers: readonly SamlProviderSettings[],
  { provider_id: id, domain }: { provider_id: string; domain: string },
): SamlProviderSettings {
  if (id !== '' && domain !== '') {
    throw new AuthError('validation_failed', 'Only one of provider_id or domain supported')
  }
  if (id === '' && domain === '') {
    throw new AuthError('validation_failed', 'A provider_id or domain needs to be provided')
  }
  const provider = providers.find((known) =>
    id === '' ? known.domains.includes(domain.toLowerCase()) : known.id === id.toLowerCase(),
  )
  if (provider !== undefined) return provider
  const message = id === '' ? 'No SSO provider assigned for this domain' : 'No such SSO provider'
  throw new AuthError('sso_provider_not_found', message)
}

async function redirectBack(
  context: Context,
  service: AuthService,
  signIn: (PendingSsoSignIn & { readonly requestId: string }) | undefined,
  response: string,
): Promise<URL> {
  const { settings } = service
  const target = signIn?.redirectTo ?? homeOf(settings)
  try {
    if (signIn === undefined) {
      throw new AuthError('saml_relay_state_not_found', 'SAML RelayState does not exist, try logging in again?')
    }
    const { provider, arrival } = await finishSignIn(service, signIn, response)
    const { pkce, isInOwnPage } = signIn
    const sessionNotAfter = arrival.sessionNotAfter
    const settle = async (scope: Scope) => {
      await useAssertion(scope, { issuer: provider.issuer, ...arrival })
      return findOrCreateSsoAccount(scope, provider, arrival, settings)
    }
    if (pkce === undefined) {
      const visitor = visitorOf(context, settings)
      const grant = await service.database.asAuth(async (scope) =>
        openSession(scope, await settle(scope), {
          method: METHOD,
          visitor,
          provider: provider.id,
          notAfter: sessionNotAfter,
        }),
      )
      writeSession(target, await describeSession(context, service, grant), {})
      return target
    }
    const code = await service.database.asAuth(async (scope) => {
      const { id: userId } = await settle(scope)
      const flow = { userId, method: METHOD, pkce, provider: providerNameOf(provider), sessionNotAfter } as const
      const flowId = await beginFlow(scope, flow)
      if (flowId === undefined) throw new AuthError('unexpected_failure', 'Error beginning a flow')
      return issueAuthCode(scope, flowId)
    })
    if (!isInOwnPage) {
      target.searchParams.set('code', code)
      return target
    }
    const finish = new URL(`${settings.siteUrl}/auth/v1/sso/saml/finish`)
    finish.search = new URLSearchParams({ code, redirect_to: target.href }).toString()
    return finish
  } catch (error) {
    const isPkce = signIn?.pkce !== undefined && !signIn.isInOwnPage
    writeFailure(target, asAuthError(error, context, service.log), { isPkce })
    return target
  }
}

async function finishSignIn(
  { settings, log }: AuthService,
  { providerId, requestId }: PendingSsoSignIn & { readonly requestId: string },
  response: string,
) {
  const provider = settings.samlProviders.find(({ id }) => id === providerId)
  if (provider === undefined) throw new AuthError('sso_provider_not_found', 'No such SSO provider')
  try {
    return { provider, arrival: await readResponse(provider, { siteUrl: settings.siteUrl, requestId, response }) }
  } catch (error) {
    log.warn({ err: error, provider: providerId }, 'an answer of a SAML provider was refused')
    throw error
  }
}

/** A same-site request, which includes the browser's cookies: only the browser that began may get a session. */
async function enterOwnPage(context: Context, service: AuthService, target: URL): Promise<void> {
  try {
    const code = context.req.query('code') ?? ''
    const verifier = knownBrowserSecret(context, service)
    if (verifier === undefined || !isOwnPage(target, service.settings)) {
      throw new AuthError(
        'saml_relay_state_not_found',
        'This sign-in was begun in another browser, try logging in again?',
      )
    }
    const grant = await service.database.asAuth(async (scope) => {
      const { account, ...flow } = await useAuthCode(scope, { code, verifier })
      return openSession(scope, account, { ...flow, visitor: visitorOf(context, service.settings) })
    })
    writeSession(target, await describeSession(context, service, grant), {})
  } catch (error) {
    writeFailure(target, asAuthError(error, context, service.log), { isPkce: false })
  }
}
