import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { hashPassword } from './passwords.ts'
import { refreshTokenHash } from './sessions.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

const isOpen = async (accessToken: string) => {
  const { session_id: id } = await service.tokens.verify(accessToken)
  return (await service.admin.query('select from auth.sessions where id = $1', [id])).rowCount === 1
}

const age = (token: string) =>
  service.admin.query(`update auth.refresh_tokens set updated_at = now() - interval '11 seconds' where token = $1`, [
    refreshTokenHash(token),
  ])

test('a wrong password and an unknown address are answered with the same bytes', async () => {
  await service.signedIn('known@example.test')
  const headers = { 'x-forwarded-for': '203.0.113.1' }
  const answers = await Promise.all(
    [
      { email: 'known@example.test', password: 'not this one' },
      { email: 'unknown@example.test', password: 'not this one' },
      { email: 'no address at all', password: 'not this one' },
      { email: 'known@example.test' },
    ].map(async (body) => {
      const answer = await service.post('/token?grant_type=password', body, headers)
      return [answer.status, await answer.text()]
    }),
  )
  for (const answer of answers) expect(answer).toEqual(answers[0])
  expect(answers[0]).toEqual([400, '{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}'])
})

test('signing in and refreshing set a cookie that scripts cannot read, and signing out removes it', async () => {
  const email = 'cookie@example.test'
  const { session } = await service.signedIn(email)
  const signedIn = await service.post('/token?grant_type=password', { email, password: PASSWORD })
  const cookie = signedIn.headers.get('set-cookie') ?? ''
  expect(cookie.split('; ').slice(1).toSorted()).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax'])
  expect(signedIn.headers.get('cache-control')).toBe('no-store')
  const { access_token: accessToken } = (await signedIn.json()) as { access_token: string }
  expect(cookie).toContain(`alcove-session=${accessToken};`)
  const refreshed = await service.post('/token?grant_type=refresh_token', { refresh_token: session.refresh_token })
  expect(refreshed.headers.get('set-cookie')).toContain('HttpOnly')

  const fromElsewhere = await service.post(
    '/token?grant_type=password',
    { email, password: PASSWORD },
    { origin: 'https://evil.example.com' },
  )
  expect([fromElsewhere.status, fromElsewhere.headers.get('set-cookie')]).toEqual([200, null])

  const signedOut = await service.post('/logout?scope=local', '', { authorization: `Bearer ${accessToken}` })
  expect([signedOut.status, await signedOut.text()]).toEqual([204, ''])
  expect(signedOut.headers.get('set-cookie')).toMatch(/^alcove-session=; Max-Age=0; Path=\//)
})

test('no answer about a session may be kept by a cache, refused or not', async () => {
  const { session } = await service.signedIn('uncached@example.test')
  const call = (at: string, token: string, method = 'GET') =>
    fetch(`${service.url}/auth/v1${at}`, { method, headers: { authorization: `Bearer ${token}` }, redirect: 'manual' })
  const answers = [
    await service.post('/token?grant_type=refresh_token', { refresh_token: session.refresh_token }),
    await service.post('/token?grant_type=password', { email: 'uncached@example.test', password: 'wrong' }),
    await call('/user', session.access_token),
    await call('/user', 'none'),
    await call('/sessions', session.access_token),
    await call('/verify?token=none&type=signup', ''),
    await call('/nowhere', ''),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 200, 403, 200, 303, 404])
  for (const answer of answers) expect(answer.headers.get('cache-control'), answer.url).toBe('no-store')
})

test('the cookie of a site under https is secure, and stays small however much a person says about themselves', async () => {
  const secure = await startAuthService({ secureCookies: true, autoconfirm: true })
  const body = { email: 'a@example.test', password: PASSWORD, data: { about: 'x'.repeat(8000) } }
  const answer = await secure.post('/signup', body)
  const cookie = answer.headers.get('set-cookie') ?? ''
  expect(cookie).toContain('Secure')
  expect(cookie.length).toBeLessThan(4096)
  const token = /alcove-session=([^;]+)/.exec(cookie)?.[1] ?? ''
  expect(await secure.tokens.verify(token)).toMatchObject({ email: 'a@example.test', role: 'authenticated' })
  await secure.close()
})

test('a refresh token is exchanged for the next one of the same session', async () => {
  const { client, session } = await service.signedIn('rotation@example.test')
  const before = await service.tokens.verify(session.access_token)
  const refreshed = await client.auth.refreshSession()
  expect(refreshed.error).toBeNull()
  expect(refreshed.data.session?.refresh_token).not.toBe(session.refresh_token)
  const after = await service.tokens.verify(refreshed.data.session?.access_token ?? '')
  expect(after).toMatchObject({ session_id: before.session_id, amr: before['amr'], aal: 'aal1' })
  const stored = await service.admin.query<{ token: string }>('select token from auth.refresh_tokens')
  expect(stored.rows.map(({ token }) => token)).not.toContain(refreshed.data.session?.refresh_token)
})

test('many tabs that refresh at once all get the same next token and stay signed in', async () => {
  const { session } = await service.signedIn('tabs@example.test')
  const tabs = await Promise.all(
    Array.from({ length: 8 }, () => service.newClient().auth.refreshSession({ refresh_token: session.refresh_token })),
  )
  const next = new Set(tabs.map(({ data }) => data.session?.refresh_token))
  expect([...next]).toEqual([expect.stringMatching(/^[\w-]{43}$/)])
  expect(await isOpen(session.access_token)).toBe(true)
  const { session_id: id } = await service.tokens.verify(session.access_token)
  const active = await service.admin.query('select from auth.refresh_tokens where session_id = $1 and not revoked', [
    id,
  ])
  expect(active.rowCount).toBe(1)
})

test('a client that lost the answer gets the same token again, however late, until that one was used', async () => {
  const { session } = await service.signedIn('lost-answer@example.test')
  const refresh = (token: string) => service.newClient().auth.refreshSession({ refresh_token: token })
  const second = (await refresh(session.refresh_token)).data.session?.refresh_token ?? ''
  await age(session.refresh_token)
  expect((await refresh(session.refresh_token)).data.session?.refresh_token).toBe(second)

  const third = (await refresh(second)).data.session?.refresh_token
  const late = await refresh(session.refresh_token)
  expect(late.error).toMatchObject({
    status: 400,
    code: 'refresh_token_already_used',
    message: 'Invalid Refresh Token: Already Used',
  })
  expect(await isOpen(session.access_token)).toBe(false)
  const family = await refresh(third ?? '')
  expect(family.error?.code).toBe('refresh_token_not_found')
})

test('within ten seconds a tab that is two refreshes behind gets the active token', async () => {
  const { session } = await service.signedIn('behind@example.test')
  const refresh = (token: string) => service.newClient().auth.refreshSession({ refresh_token: token })
  const second = (await refresh(session.refresh_token)).data.session?.refresh_token ?? ''
  const third = (await refresh(second)).data.session?.refresh_token
  expect((await refresh(session.refresh_token)).data.session?.refresh_token).toBe(third)
})

test('what is no refresh token is told apart from one that is unknown', async () => {
  const answers = await Promise.all(
    ['short', 'has spaces in its middle', 'abcdefghijklmnop', ''].map(async (token) => {
      const answer = await service.post('/token?grant_type=refresh_token', { refresh_token: token })
      return [answer.status, await answer.json()] as const
    }),
  )
  expect(answers).toMatchObject([
    [400, { error_code: 'validation_failed', msg: 'Refresh token is not valid' }],
    [400, { error_code: 'validation_failed' }],
    [400, { error_code: 'refresh_token_not_found', msg: 'Invalid Refresh Token: Refresh Token Not Found' }],
    [400, { error: 'invalid_request', error_description: 'refresh_token required' }],
  ])
})

test('other grants are answered with the documented error', async () => {
  for (const grant of ['web3', '', 'constructor']) {
    const answer = await service.post(`/token?grant_type=${grant}`, {})
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error_code: 'invalid_credentials', msg: 'unsupported_grant_type' },
    ])
  }
})

test('a banned person is told so only after the right password', async () => {
  const email = 'banned@example.test'
  const { client, user } = await service.signedIn(email)
  await service.admin.query(`update auth.users set banned_until = now() + interval '1 day' where id = $1`, [user.id])
  expect((await client.auth.signInWithPassword({ email, password: 'wrong one' })).error?.code).toBe(
    'invalid_credentials',
  )
  expect((await client.auth.signInWithPassword({ email, password: PASSWORD })).error?.code).toBe('user_banned')
  const signedIn = await client.auth.getUser()
  expect(signedIn.error?.code).toBe('user_banned')
})

test('a session ends for good after its days, however often it was refreshed', async () => {
  const { client, session } = await service.signedIn('long-lived@example.test')
  const refresh = (token: string) => service.newClient().auth.refreshSession({ refresh_token: token })
  const next = await refresh(session.refresh_token)
  expect(next.error).toBeNull()
  await service.admin.query(
    `update auth.sessions set created_at = now() - interval '31 days'
     where user_id = (select id from auth.users where email = 'long-lived@example.test')`,
  )
  const over = await refresh(next.data.session?.refresh_token ?? '')
  expect(over.error).toMatchObject({ code: 'session_expired', status: 400 })
  expect((await client.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
})

test('a session that was not used for its days is over, and one that was is not', async () => {
  const { client, session } = await service.signedIn('seldom@example.test')
  const used = await service.signedIn('often@example.test')
  await service.admin.query(
    `update auth.sessions s set created_at = now() - interval '15 days',
       refreshed_at = case when u.email = 'often@example.test' then now() - interval '13 days' end
     from auth.users u where u.id = s.user_id and u.email in ('seldom@example.test', 'often@example.test')`,
  )
  const refresh = (token: string) => service.newClient().auth.refreshSession({ refresh_token: token })
  expect((await refresh(session.refresh_token)).error).toMatchObject({
    code: 'session_expired',
    status: 400,
    message: 'Invalid Refresh Token: Session Expired (Inactivity)',
  })
  expect((await client.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
  expect((await refresh(used.session.refresh_token)).error).toBeNull()
})

test('a common password is refused with the reason, and reported where it is in use', async () => {
  const email = 'common@example.test'
  const { error } = await service.newClient().auth.signUp({ email, password: 'Password123' })
  expect(error).toMatchObject({ code: 'weak_password', status: 422, reasons: ['pwned'] })
  const { user } = await service.signedIn(email)
  const { data } = await service.newAdmin().updateUserById(user.id, { password: PASSWORD })
  expect(data.user?.id).toBe(user.id)
  await service.admin.query('update auth.users set encrypted_password = $2 where email = $1', [
    email,
    await hashPassword('Password123'),
  ])
  const { data: known } = await service.newClient().auth.signInWithPassword({ email, password: 'Password123' })
  expect(known).toMatchObject({ weakPassword: { reasons: ['pwned'] } })
})
