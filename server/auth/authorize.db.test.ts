import type { SupabaseClient } from '@supabase/supabase-js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { createVisits } from '#test/browser-visits.ts'
import { type IdentityProvider, startIdentityProvider } from '#test/identity-provider.ts'
import { searchTables } from '#test/search-tables.ts'

let idp: IdentityProvider
let service: AuthTestService
beforeAll(async () => {
  idp = await startIdentityProvider()
  service = await startAuthService({ providers: idp.providers })
})
afterAll(async () => {
  await service.close()
  await idp.close()
})
beforeEach(() => {
  Object.assign(idp.state, { forged: {}, refusal: undefined })
})

type Visits = ReturnType<typeof createVisits>
const HOME = 'https://app.example.com/home'
const isHome = ({ host }: URL) => host === 'app.example.com'
const partsOf = (url: URL) => ({ query: url.searchParams, fragment: new URLSearchParams(url.hash.slice(1)) })

async function addressFor(client: SupabaseClient, provider: string, redirectTo = HOME): Promise<string> {
  // The client's type lists the providers of a hosted project.
  const credentials = { provider: provider as 'github', options: { redirectTo, skipBrowserRedirect: true } }
  const { data, error } = await client.auth.signInWithOAuth(credentials)
  if (error) throw error
  return data.url
}

async function arrive(provider = 'oidc', visits: Visits = createVisits()) {
  return partsOf(await visits.follow(await addressFor(service.newClient(), provider), isHome))
}

async function signInThrough(provider = 'oidc') {
  const { fragment } = await arrive(provider)
  const client = service.newClient()
  const { data, error } = await client.auth.setSession({
    access_token: fragment.get('access_token') ?? '',
    refresh_token: fragment.get('refresh_token') ?? '',
  })
  if (error) throw error
  if (data.user === null || data.session === null) throw new Error('There is no session.')
  return { client, user: data.user, session: data.session, fragment }
}

test('somebody new gets an account with the address that the issuer vouches for, and the same one again', async () => {
  idp.state.person = { subject: 'new-1', email: 'New@Example.test', name: 'New Person' }
  const { user, session, fragment } = await signInThrough()
  expect(user).toMatchObject({
    email: 'new@example.test',
    app_metadata: { provider: 'oidc', providers: ['oidc'] },
    user_metadata: { name: 'New Person', email_verified: true },
    identities: [{ provider: 'oidc', id: 'new-1', email: 'new@example.test' }],
  })
  expect(user.email_confirmed_at).toBeDefined()
  expect(JSON.parse(atob(session.access_token.split('.')[1] ?? ''))).toMatchObject({ amr: [{ method: 'oauth' }] })
  expect(fragment.get('provider_token')).toBeTruthy()

  idp.state.person = { subject: 'new-1', email: 'moved@example.test' }
  expect((await signInThrough()).user).toMatchObject({ id: user.id, email: 'new@example.test' })
})

test('GitHub is asked who came, and for the address that is primary and verified there', async () => {
  idp.state.person = { subject: '4711', email: 'octo@example.test', name: 'octo' }
  const { user } = await signInThrough('github')
  expect(user).toMatchObject({ email: 'octo@example.test', app_metadata: { provider: 'github' } })
  expect(user.identities?.[0]).toMatchObject({ id: '4711', identity_data: { user_name: 'octo' } })
})

test('a program with PKCE gets a code, which only it can exchange, once', async () => {
  idp.state.person = { subject: 'pkce-1', email: 'pkce@example.test' }
  const client = service.newPkceClient()
  const { query, fragment } = partsOf(await createVisits().follow(await addressFor(client, 'oidc'), isHome))
  expect(fragment.get('access_token')).toBeNull()
  const code = query.get('code') ?? ''
  const stranger = await service.post('/token?grant_type=pkce', { auth_code: code, code_verifier: 'x'.repeat(43) })
  expect(await stranger.json()).toMatchObject({ error_code: 'bad_code_verifier' })
  const { data, error } = await client.auth.exchangeCodeForSession(code)
  expect(error).toBeNull()
  expect(data.user?.email).toBe('pkce@example.test')
  const again = await service.post('/token?grant_type=pkce', { auth_code: code, code_verifier: 'x'.repeat(43) })
  expect(again.status).toBe(404)
})

test('a verified address opens the account that was confirmed with it, whose password stays', async () => {
  const { user } = await service.signedIn('both-ways@example.test')
  idp.state.person = { subject: 'both-1', email: 'both-ways@example.test' }
  const { user: same } = await signInThrough()
  expect(same.id).toBe(user.id)
  expect(same.app_metadata).toMatchObject({ provider: 'email', providers: ['email', 'oidc'] })
  const email = 'both-ways@example.test'
  expect((await service.newClient().auth.signInWithPassword({ email, password: PASSWORD })).error).toBeNull()
})

test('nobody gets an account by an address that the provider does not vouch for', async () => {
  await service.signedIn('victim@example.test')
  for (const provider of ['oidc', 'github']) {
    idp.state.person = { subject: '666', email: 'victim@example.test', isEmailVerified: false }
    const { fragment } = await arrive(provider)
    expect(fragment.get('error_code')).toBe('provider_email_needs_verification')
    expect(fragment.get('access_token')).toBeNull()
    idp.state.person = { subject: '667' }
    expect((await arrive(provider)).fragment.get('error_code')).toBe('provider_email_needs_verification')
  }
  const stored = await service.admin.query(`select from auth.identities where provider_id in ('666', '667')`)
  expect(stored.rowCount).toBe(0)
})

test('an address that nobody had to confirm joins no account', async () => {
  const trusting = await startAuthService({ providers: idp.providers, autoconfirm: true })
  const email = 'assumed@example.test'
  await trusting.newClient().auth.signUp({ email, password: PASSWORD })
  idp.state.person = { subject: 'assumed-1', email }
  const come = async () =>
    partsOf(await createVisits().follow(await addressFor(trusting.newClient(), 'oidc'), isHome)).fragment
  expect((await come()).get('error_code')).toBe('email_exists')
  const stored = await trusting.admin.query(`select from auth.identities where provider_id = 'assumed-1'`)
  expect(stored.rowCount).toBe(0)
  await trusting.close()
})

test('who lay in wait at an address with a password of their own is out once its owner comes', async () => {
  const email = 'awaited@example.test'
  await service.newClient().auth.signUp({ email, password: PASSWORD, options: { data: { display_name: 'Mallory' } } })
  const link = await service.linkFor(email)
  idp.state.person = { subject: 'awaited-1', email }
  const { user } = await signInThrough()
  expect(user.user_metadata).not.toHaveProperty('display_name')
  expect(user.identities).toHaveLength(1)
  // As before: the stranger does not learn that the owner came.
  const { error } = await service.newClient().auth.signInWithPassword({ email, password: PASSWORD })
  expect(error).toMatchObject({ code: 'email_not_confirmed' })
  const late = await fetch(link, { redirect: 'manual' })
  expect(late.headers.get('location')).toContain('otp_expired')
})

test('a sign-in can be finished only in the browser that began it, and only once', async () => {
  idp.state.person = { subject: 'bound-1', email: 'bound@example.test' }
  const isCallback = ({ pathname }: URL) => pathname === '/auth/v1/callback'
  const visits = createVisits()
  const callback = await visits.follow(await addressFor(service.newClient(), 'oidc'), isCallback)
  const before = idp.state.tokenRequests
  const elsewhere = await createVisits().fetch(callback.href)
  expect(elsewhere.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1.*bad_oauth_state/)
  const other = createVisits()
  await other.follow(await addressFor(service.newClient(), 'oidc'), isCallback)
  expect((await other.fetch(callback.href)).headers.get('location')).toContain('bad_oauth_state')
  expect(idp.state.tokenRequests).toBe(before)
  expect((await visits.fetch(callback.href)).headers.get('location')).toContain('access_token=')
  expect((await visits.fetch(callback.href)).headers.get('location')).toContain('bad_oauth_state')
})

test('a sign-in that took longer than ten minutes is not finished', async () => {
  idp.state.person = { subject: 'slow-1', email: 'slow@example.test' }
  const visits = createVisits()
  const callback = await visits.follow(
    await addressFor(service.newClient(), 'oidc'),
    ({ pathname }) => pathname === '/auth/v1/callback',
  )
  await service.admin.query(`update auth.oauth_sign_ins set created_at = now() - interval '601 seconds'`)
  expect((await visits.fetch(callback.href)).headers.get('location')).toContain('bad_oauth_state')
})

test('the tokens of the provider go to the program that asked, and are kept in no table', async () => {
  idp.state.person = { subject: 'tokens-1', email: 'tokens@example.test' }
  const { user, fragment } = await signInThrough()
  const [access, refresh] = idp.state.issued.slice(-2)
  expect([fragment.get('provider_token'), fragment.get('provider_refresh_token')]).toEqual([access, refresh])
  const client = service.newPkceClient()
  const { query } = partsOf(await createVisits().follow(await addressFor(client, 'oidc'), isHome))
  // Between the callback and the exchange a flow with PKCE waits in the database.
  const tables = await searchTables(service.admin, idp.state.issued)
  expect(tables.read).toContain('auth.flow_state')
  expect(tables.holding).toEqual([])
  expect((await client.auth.exchangeCodeForSession(query.get('code') ?? '')).data.user?.id).toBe(user.id)
  expect((await searchTables(service.admin, idp.state.issued)).holding).toEqual([])
  expect((await searchTables(service.admin, [user.id])).holding).toContain('auth.users')
})

test('nothing that travels in addresses or stays in the browser is stored as it is', async () => {
  const visits = createVisits()
  const begun = await visits.fetch(await addressFor(service.newClient(), 'oidc'))
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? ''
  const cookie = begun.headers.getSetCookie()[0] ?? ''
  expect(cookie).toMatch(/HttpOnly.*SameSite=Lax/)
  const { rows } = await service.admin.query('select s::text as written from auth.oauth_sign_ins s')
  const written = JSON.stringify(rows)
  expect(state).toHaveLength(43)
  expect(written).not.toContain(state)
  expect(written).not.toContain(/=([^;]+)/.exec(cookie)?.[1])
})

test.for([
  ['another nonce', { nonce: 'of another sign-in' }],
  ['another audience', { aud: 'somebody-else' }],
  ['another issuer', { iss: 'https://accounts.google.com' }],
] as const)('an ID token with %s signs nobody in', async ([, forged]) => {
  idp.state.person = { subject: 'forged-1', email: 'forged@example.test' }
  idp.state.forged = forged
  const { fragment } = await arrive()
  expect(fragment.get('error_code')).toBe('bad_oauth_callback')
})

test('what the provider refuses is told in its words', async () => {
  idp.state.refusal = 'You said no'
  const { fragment } = await arrive()
  expect(Object.fromEntries(fragment)).toMatchObject({ error: 'access_denied', error_description: 'You said no' })
})

test('people are sent on to our own site and to what is on the list, whatever was asked for', async () => {
  idp.state.person = { subject: 'redirect-1', email: 'redirect@example.test' }
  const isEnd = ({ hash }: URL) => hash.includes('access_token')
  for (const asked of ['https://evil.test/', 'https://app.example.com.evil.test/', 'javascript:alert(1)']) {
    const end = await createVisits().follow(await addressFor(service.newClient(), 'oidc', asked), isEnd)
    expect(end.origin).toBe(service.url)
  }
})

test('sign-up being closed closes this way too, but for those who have an account', async () => {
  const closed = await startAuthService({ providers: idp.providers, signup: 'invite' })
  const come = async () => {
    const address = await addressFor(closed.newClient(), 'oidc')
    return partsOf(await createVisits().follow(address, isHome)).fragment
  }
  idp.state.person = { subject: 'invited-1', email: 'invited@example.test' }
  expect((await come()).get('error_code')).toBe('signup_disabled')
  await closed.newAdmin().inviteUserByEmail('invited@example.test')
  expect((await come()).get('access_token')).toBeTruthy()
  await closed.close()
})

test('a banned account stays closed', async () => {
  idp.state.person = { subject: 'banned-1', email: 'banned@example.test' }
  const { user } = await signInThrough()
  await service.newAdmin().updateUserById(user.id, { ban_duration: '1h' })
  expect((await arrive()).fragment.get('error_code')).toBe('user_banned')
})

test('the settings name what is offered, and what is not offered is refused', async () => {
  const settings = await (await fetch(`${service.url}/auth/v1/settings`)).json()
  expect(settings).toMatchObject({
    external: { oidc: true, github: true },
    external_labels: { oidc: 'Test sign-on', github: 'GitHub' },
  })
  const refused = await fetch(await addressFor(service.newClient(), 'google'))
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ msg: 'Unsupported provider: google' })
})

test('a provider that cannot be reached is an error of the server, not of the person', async () => {
  const gone = await startIdentityProvider()
  const alone = await startAuthService({ providers: gone.providers })
  await gone.close()
  const response = await fetch(await addressFor(alone.newClient(), 'oidc'), { redirect: 'manual' })
  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({
    error_code: 'unexpected_failure',
    msg: 'Test sign-on cannot be reached',
  })
  await alone.close()
})
