import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

const request = (method: string, at: string, headers: Record<string, string> = {}, body?: string) =>
  fetch(`${service.url}/auth/v1${at}`, {
    method,
    redirect: 'manual',
    headers: { 'content-type': 'application/json', 'x-supabase-api-version': '2024-01-01', ...headers },
    ...(body === undefined ? {} : { body }),
  })

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

test('every route is known here, and none gives one person what is another person’s', async () => {
  const email = 'owner@example.test'
  const { user, session } = await service.signedIn(email)
  const { session: strangers } = await service.signedIn('stranger@example.test')
  const routes = new Set(
    service.auth.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`),
  )
  const bodies: Record<string, string | undefined> = {
    'POST /signup': JSON.stringify({ email, password: 'another password' }),
    'POST /token': JSON.stringify({ email, password: 'a guess' }),
    'POST /verify': JSON.stringify({ email, token: '000000', type: 'email' }),
    'POST /verify/link': 'token=guess&type=email',
    'POST /recover': JSON.stringify({ email }),
    'POST /otp': JSON.stringify({ email }),
    'POST /magiclink': JSON.stringify({ email }),
    'POST /resend': JSON.stringify({ email, type: 'signup' }),
    'POST /sso': '{}',
    'POST /sso/saml/acs': 'RelayState=guess&SAMLResponse=guess',
    'POST /factors': JSON.stringify({ factor_type: 'totp', friendly_name: 'a guess' }),
    'POST /factors/:id/challenge': '{}',
    'POST /factors/:id/verify': JSON.stringify({ challenge_id: user.id, code: '000000' }),
    'POST /invite': JSON.stringify({ email }),
    'POST /admin/users': JSON.stringify({ email, password: 'a guess' }),
    'PUT /admin/users/:id': JSON.stringify({ password: 'a guess' }),
    'POST /admin/generate_link': JSON.stringify({ type: 'recovery', email }),
    'PUT /user': JSON.stringify({ id: user.id, email, data: { id: user.id } }),
    'POST /logout': '{}',
    'POST /recovery-codes': '{}',
    'POST /recovery-codes/verify': JSON.stringify({ code: 'aaaa-bbbb-cccc' }),
    'POST /account/close': JSON.stringify({ email, password: 'a guess' }),
  }
  const bodiless = [
    'GET /verify', 'GET /user', 'GET /health', 'GET /settings', 'GET /.well-known/jwks.json', 'GET /authorize', 'GET /callback',
    'GET /user/identities/authorize', 'DELETE /user/identities/:id', 'GET /reauthenticate', 'DELETE /factors/:id',
    'GET /admin/users', 'GET /admin/users/:id', 'DELETE /admin/users/:id', 'GET /admin/users/:id/factors',
    'DELETE /admin/users/:id/factors/:factorId', 'GET /recovery-codes', 'GET /sessions', 'DELETE /sessions/:id',
    'GET /sso/saml/metadata', 'GET /sso/saml/finish',
  ] // prettier-ignore
  expect([...routes].toSorted()).toEqual([...Object.keys(bodies), ...bodiless].toSorted())

  const query = `?grant_type=password&type=email&token=guess&user_id=${user.id}&id=${user.id}&scope=others`
  for (const caller of [{}, bearer(service.tokens.anonKey), bearer(strangers.access_token)]) {
    for (const route of routes) {
      const [method = '', at = ''] = route.split(' ')
      const answer = await request(method, `${at.replace(':id', user.id)}${query}`, caller, bodies[route])
      const shown = `${await answer.text()} ${answer.headers.get('location') ?? ''}`
      expect(shown, route).not.toContain(session.access_token)
      // PUT /user of the stranger repeats the id that the stranger sent, as metadata of their own.
      if (route !== 'PUT /user') expect(shown, route).not.toContain(user.id)
    }
  }
  const untouched = await request('GET', '/user', bearer(session.access_token))
  expect(await untouched.json()).toMatchObject({ id: user.id, email, user_metadata: { sub: user.id } })
  expect((await service.newClient().auth.signInWithPassword({ email, password: PASSWORD })).error).toBeNull()
})

test('an endpoint for the signed-in answers each kind of bad bearer in its own way', async () => {
  const { session, user } = await service.signedIn('bearer@example.test')
  const { session_id: sessionId = '' } = await service.tokens.verify(session.access_token)
  const now = Math.floor(Date.now() / 1000)
  const claims = { sub: user.id, role: 'authenticated', session_id: sessionId, iat: now, exp: now + 60 }
  const cases: [Record<string, string>, number, string, string][] = [
    [{}, 401, 'no_authorization', 'This endpoint requires a valid Bearer token'],
    [{ authorization: 'Basic abc' }, 401, 'no_authorization', 'This endpoint requires a valid Bearer token'],
    [{ cookie: `alcove-session=${session.access_token}` }, 401, 'no_authorization', 'This endpoint requires'],
    [bearer('not.a.token'), 403, 'bad_jwt', 'invalid JWT: unable to parse or verify signature'],
    [bearer(`${session.access_token.slice(0, -8)}AAAAAAAA`), 403, 'bad_jwt', 'invalid JWT: unable to parse'],
    [bearer(await service.tokens.sign({ ...claims, exp: now - 1 })), 403, 'bad_jwt', 'invalid JWT: unable to parse'],
    [bearer(service.tokens.anonKey), 403, 'bad_jwt', 'invalid claim: missing sub claim'],
    [bearer(await service.tokens.sign({ ...claims, sub: randomUUID() })), 403, 'user_not_found', 'User from sub claim'],
    [
      bearer(await service.tokens.sign({ ...claims, session_id: randomUUID() })),
      403,
      'session_not_found',
      'Session from',
    ],
  ]
  for (const [headers, status, code, message] of cases) {
    for (const method of ['GET', 'PUT'] as const) {
      const answer = await request(method, '/user', headers, method === 'PUT' ? '{}' : undefined)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('x-sb-error-code')).toBe(code)
      expect(await answer.json()).toMatchObject({ code, message: expect.stringContaining(message) as string })
    }
  }
  const { session: strangers } = await service.signedIn('bearer-stranger@example.test')
  const { session_id: strangersSession } = await service.tokens.verify(strangers.access_token)
  const mixed = await service.tokens.sign({ ...claims, session_id: strangersSession ?? '' })
  expect((await request('GET', '/user', bearer(mixed))).status).toBe(403)
})

test('errors come in the dialect that was asked for', async () => {
  const body = '{"email":"a@example.test","password":"no"}'
  const plain = await fetch(`${service.url}/auth/v1/token?grant_type=password`, { method: 'POST', body })
  expect(plain.headers.get('x-supabase-api-version')).toBeNull()
  expect(await plain.json()).toEqual({
    code: 400,
    error_code: 'invalid_credentials',
    msg: 'Invalid login credentials',
  })
  const named = await request('POST', '/token?grant_type=password', {}, body)
  expect(named.headers.get('x-supabase-api-version')).toBe('2024-01-01')
  expect(await named.json()).toEqual({ code: 'invalid_credentials', message: 'Invalid login credentials' })
  const broken = await request('POST', '/signup', {}, '{"email":')
  expect([broken.status, await broken.json()]).toMatchObject([400, { code: 'bad_json' }])
  const large = await request('POST', '/signup', {}, JSON.stringify({ email: 'x'.repeat(1_100_000) }))
  expect([large.status, await large.json()]).toMatchObject([413, { code: 'request_entity_too_large' }])
  const nowhere = await request('GET', '/nowhere')
  expect([nowhere.status, await nowhere.json()]).toMatchObject([404, { code: 'not_found' }])
})

test('pages of other origins may call, and read the headers that the client needs', async () => {
  const preflight = await request('OPTIONS', '/token', {
    origin: 'https://elsewhere.example.com',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,apikey,x-client-info,x-supabase-api-version',
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(preflight.headers.get('access-control-allow-headers')).toContain('x-supabase-api-version')
  expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
  const answer = await request('GET', '/user', { origin: 'https://elsewhere.example.com' })
  expect(answer.headers.get('access-control-expose-headers')).toContain('X-Supabase-Api-Version')
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
})

test('the public keys, the settings and the health are open, and hold no secret', async () => {
  const keys = await request('GET', '/.well-known/jwks.json')
  expect(keys.headers.get('cache-control')).toBe('public, max-age=600')
  const { keys: published } = (await keys.json()) as { keys: Record<string, unknown>[] }
  expect(published[0]).toMatchObject({ kty: 'EC', alg: 'ES256', kid: expect.any(String) as string })
  expect(published.every((key) => !('d' in key))).toBe(true)
  expect(await (await request('GET', '/settings')).json()).toMatchObject({
    external: { email: true, phone: false },
    disable_signup: false,
    mailer_autoconfirm: false,
  })
  expect((await request('GET', '/health')).status).toBe(200)
})

test('a person changes their own metadata and password, and nothing that is not theirs to change', async () => {
  const email = 'changing@example.test'
  const { client, session } = await service.signedIn(email)
  const elsewhere = service.newClient()
  await elsewhere.auth.signInWithPassword({ email, password: PASSWORD })
  await service.newClient().auth.resetPasswordForEmail(email)
  const pending = await service.codeFor(email)

  await client.auth.updateUser({ data: { name: 'Ada', colour: 'red' } })
  const merged = await client.auth.updateUser({ data: { colour: null, age: 36 } })
  expect(merged.data.user?.user_metadata).toMatchObject({ name: 'Ada', age: 36 })
  expect(merged.data.user?.user_metadata).not.toHaveProperty('colour')

  expect((await client.auth.updateUser({ password: PASSWORD })).error?.code).toBe('same_password')
  expect((await client.auth.updateUser({ password: 'short' })).error?.code).toBe('weak_password')
  const promoted = await request('PUT', '/user', bearer(session.access_token), '{"app_metadata":{"role":"admin"}}')
  expect([promoted.status, await promoted.json()]).toMatchObject([403, { code: 'not_admin' }])
  const doubted = await request(
    'PUT',
    '/user',
    bearer(session.access_token),
    JSON.stringify({ password: 'a new quiet corner', current_password: 'not it' }),
  )
  expect(doubted.status).toBe(400)

  expect((await client.auth.updateUser({ password: 'a new quiet corner' })).error).toBeNull()
  expect((await client.auth.getUser()).error).toBeNull()
  expect((await elsewhere.auth.getUser()).error?.name).toBe('AuthSessionMissingError')
  expect((await elsewhere.auth.refreshSession()).error).not.toBeNull()
  const voided = await service.newClient().auth.verifyOtp({ email, token: pending, type: 'recovery' })
  expect(voided.error?.code).toBe('otp_expired')
  expect((await client.auth.signInWithPassword({ email, password: 'a new quiet corner' })).error).toBeNull()
})

test('signing out ends the sessions that it names, at once, and nobody else’s', async () => {
  const email = 'leaving@example.test'
  const { client: first } = await service.signedIn(email)
  const { client: stranger } = await service.signedIn('staying@example.test')
  const signIn = async () => {
    const client = service.newClient()
    const { data } = await client.auth.signInWithPassword({ email, password: PASSWORD })
    return { client, token: data.session?.access_token ?? '' }
  }
  const [second, third, fourth] = [await signIn(), await signIn(), await signIn()]
  const isOpen = async (token: string) => (await request('GET', '/user', bearer(token))).status === 200

  expect((await second.client.auth.signOut({ scope: 'local' })).error).toBeNull()
  expect([await isOpen(second.token), await isOpen(third.token)]).toEqual([false, true])

  expect((await third.client.auth.signOut({ scope: 'others' })).error).toBeNull()
  expect([await isOpen(third.token), await isOpen(fourth.token)]).toEqual([true, false])
  expect((await first.auth.getUser()).error?.name).toBe('AuthSessionMissingError')

  const fifth = await signIn()
  expect((await third.client.auth.signOut()).error).toBeNull()
  expect([await isOpen(third.token), await isOpen(fifth.token)]).toEqual([false, false])
  expect((await stranger.auth.getUser()).error).toBeNull()

  const bad = await request('POST', '/logout?scope=everyone', bearer(third.token))
  expect([bad.status, await bad.json()]).toMatchObject([400, { message: 'Unsupported logout scope "everyone"' }])
})
