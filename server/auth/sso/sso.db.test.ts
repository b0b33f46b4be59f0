import { generateKeyPairSync } from 'node:crypto'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, startAuthService } from '#test/auth-service.ts'
import { createVisits } from '#test/browser-visits.ts'
import { type SamlForgery, type SamlIdentityProvider, startSamlProvider } from '#test/saml-provider.ts'
import { createSpace } from '#test/spaces.ts'

let idp: SamlIdentityProvider
let service: AuthTestService
beforeAll(async () => {
  idp = await startSamlProvider()
  service = await startAuthService({ samlProviders: [idp.provider] })
})
afterAll(async () => {
  await service.close()
  await idp.close()
})

const HOME = 'https://app.example.com/home'
type Visits = ReturnType<typeof createVisits>

async function requestFor(client: SupabaseClient, redirectTo = HOME): Promise<URL> {
  const { data, error } = await client.auth.signInWithSSO({ domain: 'acme.test', options: { redirectTo } })
  if (error) throw error
  return new URL(data.url)
}

type Posted = Pick<ReturnType<SamlIdentityProvider['answer']>, 'consumer' | 'form'>

let visitors = 0
/** Everybody comes from an address of their own, so that tests do not share limits. */
const fromSomewhere = () => ({ 'x-forwarded-for': `203.0.113.${(visitors += 1)}` })

/** Posts an answer as a browser does, and says where it is sent. */
async function post({ consumer, form }: Posted, visits: Visits = createVisits()): Promise<URL> {
  const response = await visits.fetch(consumer, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: { origin: idp.origin, ...fromSomewhere() },
  })
  expect(response.status).toBe(303)
  return new URL(response.headers.get('location') ?? '')
}
const fragmentOf = (url: URL) => new URLSearchParams(url.hash.slice(1))

async function arrive(forgery: SamlForgery = {}) {
  return fragmentOf(await post(idp.answer(await requestFor(service.newClient()), forgery)))
}

async function userOf(fragment: URLSearchParams) {
  const client = service.newClient()
  const { data, error } = await client.auth.setSession({
    access_token: fragment.get('access_token') ?? '',
    refresh_token: fragment.get('refresh_token') ?? '',
  })
  if (error) throw error
  if (data.user === null || data.session === null) throw new Error('There is no session.')
  const claims: unknown = JSON.parse(atob(data.session.access_token.split('.')[1] ?? ''))
  return { client, user: data.user, claims }
}

test('somebody of the company gets an account of its own kind, and the same one again', async () => {
  idp.state.person = { subject: 'ada-1', email: 'Ada@acme.test', name: 'Ada' }
  const { user, claims } = await userOf(await arrive())
  const provider = `sso:${idp.provider.id}`
  expect(user).toMatchObject({
    email: 'ada@acme.test',
    app_metadata: { provider, providers: [provider] },
    user_metadata: { name: 'Ada', email_verified: true, iss: idp.provider.issuer },
    identities: [{ provider, id: 'ada-1', email: 'ada@acme.test' }],
  })
  expect(claims).toMatchObject({ amr: [{ method: 'sso/saml', provider: idp.provider.id }] })
  idp.state.person = { subject: 'ada-1', email: 'ada.l@acme.test', name: 'Ada L' }
  expect((await userOf(await arrive())).user).toMatchObject({ id: user.id, email: 'ada.l@acme.test' })
})

test('a company proves addresses of its own domains only: no invitation to another address is theirs', async () => {
  const owner = await service.createPerson()
  const space = await createSpace(service, owner)
  const invitationsOf = async (email: string) => {
    await service.admin.query(`insert into space_invitations (space_id, email, role) values ($1, $2, 'reader')`, [
      space,
      email,
    ])
    idp.state.person = { subject: 'crossing-1', email }
    const { user } = await userOf(await arrive())
    const claims = { sub: user.id, role: 'authenticated' as const }
    const { rows } = await service.database.asUser(claims, (scope) =>
      scope.query<{ email: string }>('select email from space_invitations'),
    )
    return rows
  }
  expect(await invitationsOf('victim@elsewhere.test')).toEqual([])
  expect(await invitationsOf('member@acme.test')).toEqual([{ email: 'member@acme.test' }])
  expect(await invitationsOf('other@sub.acme.test')).toEqual([])
})

test('an account with a password and the same address stays apart', async () => {
  const { user: withPassword } = await service.signedIn('bob@acme.test')
  idp.state.person = { subject: 'bob-1', email: 'bob@acme.test' }
  const { user, client } = await userOf(await arrive())
  expect(user.id).not.toBe(withPassword.id)
  for (const change of [{ password: 'a new quiet corner' }, { email: 'bob@elsewhere.test' }]) {
    expect((await client.auth.updateUser(change)).error).toMatchObject({ code: 'user_sso_managed', status: 422 })
  }
  await service.newClient().auth.resetPasswordForEmail('ada.l@acme.test')
  expect(await service.mails('ada.l@acme.test')).toEqual([])
})

test('a program with PKCE gets a code, which only it can exchange', async () => {
  idp.state.person = { subject: 'pkce-1', email: 'pkce@acme.test' }
  const client = service.newPkceClient()
  const end = await post(idp.answer(await requestFor(client)))
  expect(end.hash).toBe('')
  const code = end.searchParams.get('code') ?? ''
  const stranger = await service.post('/token?grant_type=pkce', { auth_code: code, code_verifier: 'x'.repeat(43) })
  expect(await stranger.json()).toMatchObject({ error_code: 'bad_code_verifier' })
  const { data, error } = await client.auth.exchangeCodeForSession(code)
  expect(error).toBeNull()
  expect(data.user?.email).toBe('pkce@acme.test')
})

test('our own page is entered only by the browser that began, and the redirect sets no session cookie', async () => {
  idp.state.person = { subject: 'own-1', email: 'own@acme.test' }
  const visits = createVisits()
  const client = createClient(service.url, service.tokens.anonKey, {
    auth: { persistSession: false, autoRefreshToken: false },
    global: { fetch: visits.fetch },
  })
  const enter = async (browser: Visits) => {
    const finish = await post(idp.answer(await requestFor(client, service.url)))
    const response = await browser.fetch(finish.href)
    return { response, fragment: fragmentOf(new URL(response.headers.get('location') ?? '')) }
  }
  const foreign = await enter(createVisits())
  expect(foreign.fragment.get('error_code')).toBe('saml_relay_state_not_found')
  const { response, fragment } = await enter(visits)
  expect(response.headers.getSetCookie().join()).not.toContain('alcove-session=')
  expect((await userOf(fragment)).user.email).toBe('own@acme.test')
})

test('a session ends when the company says', async () => {
  idp.state.person = { subject: 'short-1', email: 'short@acme.test' }
  const fragment = await arrive({ sessionNotOnOrAfter: new Date(Date.now() - 1000).toISOString() })
  const { error } = await service.newClient().auth.refreshSession({
    refresh_token: fragment.get('refresh_token') ?? '',
  })
  expect(error).toMatchObject({ code: 'session_expired' })
})

const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
/** An unsigned assertion about another person, which an attacker adds to a signed response. */
const forgedCopyOf = (xml: string) => {
  const [assertion = ''] = /<saml:Assertion.*<\/saml:Assertion>/s.exec(xml) ?? []
  return assertion
    .replace(/<ds:Signature.*<\/ds:Signature>/s, '')
    .replace(/ID="[^"]+"/, 'ID="_evil"')
    .replaceAll('mallory', 'victim')
}
const REFUSED: readonly (readonly [string, SamlForgery])[] = [
  ['without a signature', { isUnsigned: true }],
  ['signed with another key', { key: stranger }],
  ['signed with SHA-1', { method: 'sha1' }],
  ['that is too old', { notOnOrAfter: new Date(Date.now() - 120_000).toISOString() }],
  ['for another audience', { audience: 'https://other.test/metadata' }],
  ['for another consumer', { recipient: 'https://other.test/acs' }],
  ['from another issuer', { issuer: 'https://other.test/idp' }],
  ['to another request', { inResponseTo: '_of_somebody_else' }],
  ['whose person was changed', { alter: (xml) => xml.replaceAll('mallory', 'victim') }],
  ['wrapped in front', { alter: (xml) => xml.replace('<saml:Assertion', `${forgedCopyOf(xml)}<saml:Assertion`) }],
  ['wrapped behind', { alter: (xml) => xml.replace('</samlp:Response>', `${forgedCopyOf(xml)}</samlp:Response>`) }],
  [
    'wrapped around the signed one',
    {
      alter: (xml) =>
        xml.replace(/<saml:Assertion.*<\/saml:Assertion>/s, (signed) =>
          forgedCopyOf(xml).replace('</saml:Assertion>', `<saml:Advice>${signed}</saml:Advice></saml:Assertion>`),
        ),
    },
  ],
  [
    'with the signed one hidden in an extension',
    {
      alter: (xml) =>
        xml.replace(
          /<saml:Assertion.*<\/saml:Assertion>/s,
          (signed) => `<samlp:Extensions>${signed}</samlp:Extensions>${forgedCopyOf(xml)}`,
        ),
    },
  ],
  ['with a document type', { alter: (xml) => `<!DOCTYPE x [<!ENTITY who "victim">]>${xml}` }],
  ['that is no XML', { alter: () => 'not at all <' }],
]
test.for(REFUSED)('an answer %s signs nobody in', async ([, forgery]) => {
  idp.state.person = { subject: 'mallory', email: 'mallory@acme.test' }
  const fragment = await arrive(forgery)
  expect(fragment.get('error_code')).toBe('validation_failed')
  expect(fragment.get('error_description')).toBe('SAML Assertion is not valid')
  const made = await service.admin.query(`select from auth.identities where provider_id in ('mallory', 'victim')`)
  expect(made.rowCount).toBe(0)
})

test('a comment in a name cuts nothing off', async () => {
  idp.state.person = { subject: 'root.of.mallory', email: 'm@acme.test' }
  const fragment = await arrive({ alter: (xml) => xml.replace('root.of', 'root<!-- -->.of') })
  const { user } = await userOf(fragment)
  expect(user.identities?.[0]?.id).toBe('root.of.mallory')
})

test('an answer counts once, also under another state and at another node', async () => {
  idp.state.person = { subject: 'replay-1', email: 'replay@acme.test' }
  const answer = idp.answer(await requestFor(service.newClient()))
  expect(fragmentOf(await post(answer)).get('access_token')).toBeTruthy()
  expect(fragmentOf(await post(answer)).get('error_code')).toBe('saml_relay_state_not_found')
  const other = await requestFor(service.newClient())
  const moved = { ...answer, form: { ...answer.form, RelayState: other.searchParams.get('RelayState') ?? '' } }
  expect(fragmentOf(await post(moved)).get('error_code')).toBe('validation_failed')
  // As if a node had the state back: the assertion itself is known to the database.
  const stored = await service.admin.query('select ends_at from auth.saml_assertions where ends_at > now()')
  expect(stored.rowCount).toBeGreaterThan(0)
  const state = answer.form.RelayState
  await service.admin.query(
    `insert into auth.saml_sign_ins (state_hash, sso_provider_id, redirect_to, in_own_page)
     values (encode(sha256($1::text::bytea), 'hex'), $2, $3, false)`,
    [state, idp.provider.id, HOME],
  )
  expect(fragmentOf(await post(answer)).get('error_description')).toBe('SAML Assertion was used before')
})

test('nothing that travels is stored as it is, and a state ends', async () => {
  const request = await requestFor(service.newClient())
  const { rows } = await service.admin.query('select s::text as written from auth.saml_sign_ins s')
  expect(JSON.stringify(rows)).not.toContain(request.searchParams.get('RelayState'))
  await service.admin.query(`update auth.saml_sign_ins set created_at = now() - interval '11 minutes'`)
  expect(fragmentOf(await post(idp.answer(request))).get('error_code')).toBe('saml_relay_state_not_found')
})

test('people are sent on to our own site and to what is on the list, whatever was asked for', async () => {
  idp.state.person = { subject: 'ada-1', email: 'ada@acme.test' }
  for (const asked of ['https://evil.test/', 'https://app.example.com.evil.test/', 'javascript:alert(1)']) {
    const end = await post(idp.answer(await requestFor(service.newClient(), asked)))
    expect(end.origin).toBe(service.url)
    const unknown = await post({
      consumer: `${service.url}/auth/v1/sso/saml/acs`,
      form: { SAMLResponse: '', RelayState: asked },
    })
    expect(unknown.origin).toBe(service.url)
    const finished = await fetch(`${service.url}/auth/v1/sso/saml/finish?code=x&redirect_to=${asked}`, {
      redirect: 'manual',
      headers: fromSomewhere(),
    })
    expect(new URL(finished.headers.get('location') ?? '').origin).toBe(service.url)
  }
})

test('a name that changes each time is no name', async () => {
  const fragment = await arrive({ nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' })
  expect(fragment.get('error_code')).toBe('saml_assertion_no_user_id')
  idp.state.person = { subject: 'no-address' }
  expect((await arrive()).get('error_code')).toBe('saml_assertion_no_email')
})

test('a provider is asked for by one name that is known, and one redirect leads there', async () => {
  const { auth } = service.newClient()
  const known = await auth.signInWithSSO({ providerId: idp.provider.id })
  expect(known.data?.url).toMatch(new RegExp(`^${idp.provider.entryPoint}\\?SAMLRequest=`))
  expect((await auth.signInWithSSO({ domain: 'other.test' })).error).toMatchObject({ code: 'sso_provider_not_found' })
  for (const body of [{}, { domain: 'acme.test', provider_id: idp.provider.id }]) {
    expect((await service.post('/sso', body)).status).toBe(400)
  }
  const redirected = await fetch(`${service.url}/auth/v1/sso`, {
    method: 'POST',
    body: JSON.stringify({ domain: 'ACME.test' }),
    redirect: 'manual',
  })
  expect([redirected.status, new URL(redirected.headers.get('location') ?? '').origin]).toEqual([303, idp.origin])
})

test('the metadata names us as the provider has to know us', async () => {
  const response = await fetch(`${service.url}/auth/v1/sso/saml/metadata`)
  const xml = await response.text()
  expect(response.headers.get('content-type')).toContain('application/xml')
  expect(xml).toContain(`entityID="${service.url}/auth/v1/sso/saml/metadata"`)
  expect(xml).toContain(`Location="${service.url}/auth/v1/sso/saml/acs"`)
  expect(xml).toContain('WantAssertionsSigned="true"')
})

test('the settings say that it is there, and where it is not all of it is refused', async () => {
  const settings = await (await fetch(`${service.url}/auth/v1/settings`)).json()
  expect(settings).toMatchObject({ saml_enabled: true, sso_labels: { [idp.provider.id]: 'Acme' } })
  const without = await startAuthService()
  for (const [method, at] of [
    ['POST', '/sso'],
    ['GET', '/sso/saml/metadata'],
    ['POST', '/sso/saml/acs'],
  ] as const) {
    const refused = await fetch(`${without.url}/auth/v1${at}`, { method })
    expect(refused.status).toBe(404)
    expect(await refused.json()).toMatchObject({ error_code: 'saml_provider_disabled' })
  }
  await without.close()
})
