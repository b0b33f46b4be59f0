import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { pressButton } from '#test/press-button.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

const BACK = 'https://app.example.com/back'

/** Follows the newest mail's link as a browser would, and returns the page that it ends on. */
async function follow(email: string): Promise<URL> {
  const followed = await pressButton(await service.linkFor(email))
  expect(followed.status).toBe(303)
  return new URL(followed.headers.get('location') ?? '')
}

const exchange = async (body: object) => {
  const answer = await service.post('/token?grant_type=pkce', body)
  return [answer.status, await answer.json()] as const
}
const verifier = 'v'.repeat(64)
const challengeOf = (secret: string) => ({
  code_challenge: createHash('sha256').update(secret).digest('base64url'),
  code_challenge_method: 's256',
})

/** A code for an account, from a recovery that was begun with `verifier`. */
async function mailedCode(email: string, challenge: object = challengeOf(verifier)): Promise<string> {
  expect((await service.post('/recover', { email, ...challenge })).status).toBe(200)
  return (await follow(email)).searchParams.get('code') ?? ''
}

test('the link of a sign-up ends in a code that the client which signed up exchanges for a session, once', async () => {
  const email = 'signup@example.test'
  const client = service.newPkceClient()
  const signedUp = await client.auth.signUp({ email, password: PASSWORD, options: { emailRedirectTo: `${BACK}?x=1` } })
  expect(signedUp.error).toBeNull()
  expect(new URL(await service.linkFor(email)).searchParams.get('token')).toMatch(/^pkce_/)
  const page = await follow(email)
  expect([page.origin + page.pathname, page.searchParams.get('x'), page.hash]).toEqual([BACK, '1', ''])
  const code = page.searchParams.get('code') ?? ''

  const stranger = service.newPkceClient()
  expect((await stranger.auth.exchangeCodeForSession(code)).error?.name).toBe('AuthPKCECodeVerifierMissingError')
  const { data, error } = await client.auth.exchangeCodeForSession(code)
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email, email_confirmed_at: expect.any(String) as string })
  const claims = await service.tokens.verify(data.session?.access_token ?? '')
  expect(claims['amr']).toMatchObject([{ method: 'email/signup' }])
  expect(await exchange({ auth_code: code, code_verifier: verifier })).toMatchObject([
    404,
    { error_code: 'flow_state_not_found' },
  ])
})

test('magic link, recovery and a repeated confirmation work with PKCE too', async () => {
  const email = 'ways@example.test'
  const methods: unknown[] = []
  const client = service.newPkceClient()
  await client.auth.signUp({ email, password: PASSWORD })
  for (const ask of [
    () => client.auth.resend({ type: 'signup', email }),
    () => client.auth.signInWithOtp({ email }),
    () => client.auth.resetPasswordForEmail(email),
  ]) {
    expect((await ask()).error).toBeNull()
    const page = await follow(email)
    const { data, error } = await client.auth.exchangeCodeForSession(page.searchParams.get('code') ?? '')
    expect(error).toBeNull()
    methods.push((await service.tokens.verify(data.session?.access_token ?? ''))['amr'])
  }
  expect(methods).toMatchObject([[{ method: 'email/signup' }], [{ method: 'magiclink' }], [{ method: 'recovery' }]])
})

test('the digits and the token hash of a mail sign in directly, also where it was asked for with PKCE', async () => {
  const email = 'digits@example.test'
  const client = service.newPkceClient()
  await client.auth.signInWithOtp({ email })
  const byCode = await client.auth.verifyOtp({ email, token: await service.codeFor(email), type: 'email' })
  expect(byCode.data.session).not.toBeNull()
  await client.auth.signInWithOtp({ email })
  const tokenHash = new URL(await service.linkFor(email)).searchParams.get('token') ?? ''
  const byHash = await client.auth.verifyOtp({ token_hash: tokenHash, type: 'email' })
  expect(byHash.data.session).not.toBeNull()
})

test('a code needs its own verifier, works once and for five minutes', async () => {
  const email = 'codes@example.test'
  await service.signedIn(email)
  const code = await mailedCode(email)
  const wrong = await exchange({ auth_code: code, code_verifier: 'w'.repeat(64) })
  expect(wrong).toMatchObject([
    400,
    { error_code: 'bad_code_verifier', msg: 'code challenge does not match previously saved code verifier' },
  ])
  const racing = await Promise.all(
    Array.from({ length: 4 }, () => exchange({ auth_code: code, code_verifier: verifier })),
  )
  expect(racing.map(([status]) => status).toSorted()).toEqual([200, 404, 404, 404])

  const late = await mailedCode(email)
  await service.admin.query(`update auth.flow_state set auth_code_issued_at = now() - interval '301 seconds'`)
  expect(await exchange({ auth_code: late, code_verifier: verifier })).toMatchObject([
    422,
    { error_code: 'flow_state_expired' },
  ])
  expect(await exchange({ auth_code: '', code_verifier: verifier })).toMatchObject([
    400,
    {
      error_code: 'validation_failed',
      msg: 'invalid request: both auth code and code verifier should be non-empty',
    },
  ])
  const plain = await mailedCode(email, { code_challenge: verifier, code_challenge_method: 'PLAIN' })
  expect((await exchange({ auth_code: plain, code_verifier: verifier }))[0]).toBe(200)
})

test('a code is stored as its digest alone, and a changed password ends the flow that it belongs to', async () => {
  const email = 'pending@example.test'
  const { client } = await service.signedIn(email)
  const code = await mailedCode(email)
  const stored = await service.admin.query<{ row: string }>('select row_to_json(f)::text as row from auth.flow_state f')
  expect(stored.rows.some(({ row }) => row.includes(code))).toBe(false)
  await client.auth.updateUser({ password: 'a new quiet corner' })
  expect((await exchange({ auth_code: code, code_verifier: verifier }))[0]).toBe(404)
})

test('a banned person cannot exchange a code', async () => {
  const email = 'banned@example.test'
  const { user } = await service.signedIn(email)
  const code = await mailedCode(email)
  await service.admin.query(`update auth.users set banned_until = now() + interval '1 day' where id = $1`, [user.id])
  expect(await exchange({ auth_code: code, code_verifier: verifier })).toMatchObject([
    400,
    { error_code: 'user_banned' },
  ])
})

test('a link that failed says so in the query and in the fragment', async () => {
  const email = 'twice@example.test'
  await service.newPkceClient().auth.signUp({ email, password: PASSWORD })
  await follow(email)
  const again = await follow(email)
  const expected = { error: 'access_denied', error_code: 'otp_expired' }
  expect(Object.fromEntries(again.searchParams)).toMatchObject(expected)
  expect(Object.fromEntries(new URLSearchParams(again.hash.slice(1)))).toMatchObject(expected)
  expect(again.searchParams.has('code')).toBe(false)
})

test('half a challenge, and what cannot be one, is refused before anything is done', async () => {
  const email = 'challenge@example.test'
  for (const challenge of [
    { code_challenge: verifier },
    { code_challenge_method: 's256' },
    { code_challenge: 'short', code_challenge_method: 's256' },
    { code_challenge: 'v'.repeat(129), code_challenge_method: 's256' },
    { code_challenge: `${'v'.repeat(50)}+`, code_challenge_method: 's256' },
    { code_challenge: verifier, code_challenge_method: 's512' },
  ]) {
    for (const at of ['/signup', '/otp', '/recover', '/resend']) {
      const answer = await service.post(at, { email, password: PASSWORD, type: 'signup', ...challenge })
      expect([answer.status, await answer.json()]).toMatchObject([400, { error_code: 'validation_failed' }])
    }
  }
  expect((await service.admin.query('select from auth.users where email = $1', [email])).rowCount).toBe(0)
})

test('with PKCE too, an address without an account is answered alike and leaves nothing behind', async () => {
  const before = await service.admin.query('select from auth.flow_state')
  const unknown = await service.post('/recover', { email: 'nobody@example.test', ...challengeOf(verifier) })
  expect([unknown.status, await unknown.json()]).toEqual([200, {}])
  expect((await service.admin.query('select from auth.flow_state')).rowCount).toBe(before.rowCount)
})
