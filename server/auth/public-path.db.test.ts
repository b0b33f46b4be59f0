/** Sign-ins by providers where the public address has a path. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { createVisits } from '#test/browser-visits.ts'
import { type IdentityProvider, startIdentityProvider } from '#test/identity-provider.ts'
import { type SamlIdentityProvider, startSamlProvider } from '#test/saml-provider.ts'

let idp: IdentityProvider
let saml: SamlIdentityProvider
let service: AuthTestService
beforeAll(async () => {
  ;[idp, saml] = [await startIdentityProvider(), await startSamlProvider()]
  service = await startAuthService({
    basePath: '/team/alcove',
    providers: idp.providers,
    samlProviders: [saml.provider],
  })
})
afterAll(async () => {
  await service.close()
  await idp.close()
  await saml.close()
})

test('an issuer sends back to the callback below the path, with a cookie of this path alone', async () => {
  idp.state.person = { subject: 'below-1', email: 'below@example.test' }
  const visits = createVisits()
  const { data } = await service.newClient().auth.signInWithOAuth({
    provider: 'oidc' as 'github',
    options: { redirectTo: `${service.url}/`, skipBrowserRedirect: true },
  })
  const started = await visits.fetch(data.url ?? '')
  expect(started.headers.get('set-cookie')).toMatch(
    /^alcove-sign-in\.team\.alcove=[^;]+;.* Path=\/team\/alcove\/auth\/v1/,
  )
  const issuer = started.headers.get('location') ?? ''
  expect(new URL(issuer).searchParams.get('redirect_uri')).toBe(`${service.url}/auth/v1/callback`)
  const end = await visits.follow(issuer, ({ hash }) => hash !== '')
  expect(end.href).toMatch(new RegExp(`^${service.url}/#access_token=`))
})

test('a SAML provider sends back to our own page below the path', async () => {
  saml.state.person = { subject: 'below-2', email: 'below@acme.test' }
  const visits = createVisits()
  const asked = await visits.fetch(`${service.url}/auth/v1/sso`, {
    method: 'POST',
    body: JSON.stringify({ domain: 'acme.test', redirect_to: `${service.url}/`, skip_http_redirect: true }),
  })
  const { url } = (await asked.json()) as { url: string }
  const { consumer, form } = saml.answer(new URL(url))
  expect(consumer).toBe(`${service.url}/auth/v1/sso/saml/acs`)
  const posted = await visits.fetch(consumer, { method: 'POST', body: new URLSearchParams(form) })
  const finish = posted.headers.get('location') ?? ''
  expect(finish).toMatch(new RegExp(`^${service.url}/auth/v1/sso/saml/finish\\?`))
  const end = await visits.fetch(finish)
  expect(end.headers.get('location')).toMatch(new RegExp(`^${service.url}/#access_token=`))
  const metadata = await (await fetch(`${service.url}/auth/v1/sso/saml/metadata`)).text()
  expect(metadata).toContain(`Location="${service.url}/auth/v1/sso/saml/acs"`)
})

test('tokens name their issuer with the path, and the session cookie belongs to the path', async () => {
  const { client, session } = await service.signedIn('cookie@example.test')
  const claims = JSON.parse(atob(session.access_token.split('.')[1] ?? '')) as { iss: string }
  expect(claims.iss).toBe(`${service.url}/auth/v1`)
  const answer = await service.post('/token?grant_type=password', { email: 'cookie@example.test', password: PASSWORD })
  expect(answer.headers.get('set-cookie')).toMatch(/^alcove-session\.team\.alcove=[^;]+;.*Path=\/team\/alcove;/)
  expect((await client.auth.signOut()).error).toBeNull()
})
