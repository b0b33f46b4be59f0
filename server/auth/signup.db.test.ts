import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { pressButton } from '#test/press-button.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

test('an account is created, confirmed by the mailed link, and signed in to with the official client', async () => {
  const email = 'reader@example.test'
  const client = service.newClient()
  const signedUp = await client.auth.signUp({
    email: 'Reader@Example.test',
    password: PASSWORD,
    options: { data: { name: 'Ada' }, emailRedirectTo: `${service.url}/login?confirmed=1` },
  })
  expect(signedUp.error).toBeNull()
  expect(signedUp.data.session).toBeNull()
  expect(signedUp.data.user).toMatchObject({ email, phone: '', aud: 'authenticated', role: 'authenticated' })
  expect(signedUp.data.user?.user_metadata).toMatchObject({ name: 'Ada', email, email_verified: false })
  expect(signedUp.data.user?.identities).toHaveLength(1)
  expect(signedUp.data.user?.email_confirmed_at).toBeUndefined()

  const early = await client.auth.signInWithPassword({ email, password: PASSWORD })
  expect(early.error).toMatchObject({ status: 400, code: 'email_not_confirmed', message: 'Email not confirmed' })
  const earlyAndWrong = await client.auth.signInWithPassword({ email, password: 'something else' })
  expect(earlyAndWrong.error?.code).toBe('invalid_credentials')

  const followed = await pressButton(await service.linkFor(email))
  expect(followed.status).toBe(303)
  const location = new URL(followed.headers.get('location') ?? '')
  expect(`${location.origin}${location.pathname}${location.search}`).toBe(`${service.url}/login?confirmed=1`)
  const fragment = new URLSearchParams(location.hash.slice(1))
  expect([...fragment.keys()].toSorted()).toEqual(
    ['access_token', 'expires_at', 'expires_in', 'refresh_token', 'sb', 'token_type', 'type'].toSorted(),
  )
  expect(fragment.get('type')).toBe('signup')
  const fromLink = await client.auth.setSession({
    access_token: fragment.get('access_token') ?? '',
    refresh_token: fragment.get('refresh_token') ?? '',
  })
  expect(fromLink.data.user?.user_metadata['email_verified']).toBe(true)

  const signedIn = await client.auth.signInWithPassword({ email, password: PASSWORD })
  expect(signedIn.error).toBeNull()
  expect(signedIn.data.session).toMatchObject({ token_type: 'bearer', expires_in: 3600 })
  const claims = await client.auth.getClaims()
  expect(claims.error).toBeNull()
  expect(claims.data?.claims).toMatchObject({
    iss: `${service.url}/auth/v1`,
    sub: signedIn.data.user?.id,
    aud: 'authenticated',
    role: 'authenticated',
    email,
    phone: '',
    aal: 'aal1',
    is_anonymous: false,
    app_metadata: { provider: 'email', providers: ['email'] },
    amr: [{ method: 'password' }],
  })
  const user = await client.auth.getUser()
  expect(user.data.user).toMatchObject({ id: signedIn.data.user?.id, email })
  expect(user.data.user?.last_sign_in_at).toBeDefined()
})

test('a link works once, and a link that failed tells the page so in the fragment', async () => {
  const email = 'once@example.test'
  await service.newClient().auth.signUp({ email, password: PASSWORD })
  const link = await service.linkFor(email)
  const first = await pressButton(link)
  expect(first.headers.get('location')).toContain('#access_token=')
  const second = await fetch(link, { redirect: 'manual' })
  expect(second.status).toBe(303)
  const fragment = new URLSearchParams(new URL(second.headers.get('location') ?? '').hash.slice(1))
  expect(Object.fromEntries(fragment)).toMatchObject({
    error: 'access_denied',
    error_code: 'otp_expired',
    error_description: 'Email link is invalid or has expired',
  })
})

test('a redirect that is not on the allow-list falls back to the site, one that is on it is followed', async () => {
  const email = 'redirected@example.test'
  const client = service.newClient()
  for (const [asked, expected] of [
    ['https://evil.example.com/', `${service.url}/`],
    [`${service.url}@evil.example.com/`, `${service.url}/`],
    ['//evil.example.com/', `${service.url}/`],
    ['https://app.example.com/back?x=1', 'https://app.example.com/back?x=1'],
  ] as const) {
    await client.auth.signUp({ email, password: PASSWORD, options: { emailRedirectTo: asked } })
    const mailed = new URL(await service.linkFor(email))
    expect(mailed.searchParams.get('redirect_to')).toBe(expected)
    mailed.searchParams.set('redirect_to', asked)
    mailed.searchParams.set('token', 'wrong')
    const followed = await fetch(mailed, { redirect: 'manual' })
    expect(followed.headers.get('location')?.split('#')[0]).toBe(expected)
  }
})

test('a taken address gets an answer like a new one, and only its owner is told', async () => {
  const email = 'taken@example.test'
  const { user } = await service.signedIn(email)
  const client = service.newClient()
  const repeated = await client.auth.signUp({ email, password: 'an other password' })
  expect(repeated.error).toBeNull()
  expect(repeated.data.user?.id).not.toBe(user.id)
  expect(repeated.data.user?.identities).toHaveLength(1)
  const fresh = await client.auth.signUp({ email: 'not-taken@example.test', password: PASSWORD })
  expect(Object.keys(repeated.data.user ?? {}).toSorted()).toEqual(Object.keys(fresh.data.user ?? {}).toSorted())
  expect((await service.mails(email))[0]?.subject).toContain('already have')
  const stillOld = await client.auth.signInWithPassword({ email, password: PASSWORD })
  expect(stillOld.error).toBeNull()
})

test('a password that a stranger set is gone once the owner signs in by magic link', async () => {
  const email = 'pre-hijacked@example.test'
  await service.newClient().auth.signUp({ email, password: 'set by a stranger' })
  const client = service.newClient()
  await client.auth.signInWithOtp({ email })
  const verified = await client.auth.verifyOtp({ email, token: await service.codeFor(email), type: 'email' })
  expect(verified.data.user?.email_confirmed_at).toBeDefined()
  const stranger = await service.newClient().auth.signInWithPassword({ email, password: 'set by a stranger' })
  expect(stranger.error?.code).toBe('email_not_confirmed')
})

test('what cannot be signed up with is refused in the words of the protocol', async () => {
  const client = service.newClient()
  const refusals: [object, number, string, string][] = [
    [{ email: 'a@example.test', password: 'short' }, 422, 'weak_password', 'Password should be at least 8 characters.'],
    [{ email: 'a@example.test', password: 'x'.repeat(73) }, 400, 'validation_failed', 'Password cannot be longer'],
    [
      { email: 'no address', password: PASSWORD },
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ],
    [{ email: 'a@example.test' }, 400, 'validation_failed', 'Signup requires a valid password'],
    [{ password: PASSWORD }, 422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled'],
    [{ phone: '+123456789', password: PASSWORD }, 400, 'phone_provider_disabled', 'Phone signups are disabled'],
    [{ email: 1 }, 400, 'bad_json', 'Could not parse'],
    [{ email: 'a@example.test', password: PASSWORD, data: { nul: '\0' } }, 400, 'bad_json', 'NUL'],
  ]
  for (const [body, status, code, message] of refusals) {
    const answer = await service.post('/signup', body, { 'x-supabase-api-version': '2024-01-01' })
    expect([answer.status, answer.headers.get('x-supabase-api-version')]).toEqual([status, '2024-01-01'])
    const given: unknown = await answer.json()
    expect(given).toMatchObject({ code, message: expect.stringContaining(message) as string })
  }
  const weak = await client.auth.signUp({ email: 'a@example.test', password: 'short' })
  expect(weak.error).toMatchObject({ name: 'AuthWeakPasswordError', reasons: ['length'] })
})

test('closed sign-up and sign-up without confirmation answer as they are set', async () => {
  const closed = await startAuthService({ signup: 'closed' })
  const refused = await closed.newClient().auth.signUp({ email: 'a@example.test', password: PASSWORD })
  expect(refused.error).toMatchObject({ status: 422, code: 'signup_disabled' })
  expect((await closed.newClient().auth.signInWithOtp({ email: 'a@example.test' })).error).toBeNull()
  expect(await closed.mails('a@example.test')).toEqual([])
  await closed.close()

  const automatic = await startAuthService({ autoconfirm: true })
  const client = automatic.newClient()
  const signedUp = await client.auth.signUp({ email: 'a@example.test', password: PASSWORD })
  expect(signedUp.data.session?.access_token).toBeDefined()
  expect(signedUp.data.user?.email_confirmed_at).toBeDefined()
  const again = await client.auth.signUp({ email: 'a@example.test', password: PASSWORD })
  expect(again.error).toMatchObject({ status: 422, code: 'user_already_exists', message: 'User already registered' })
  await automatic.close()
})

test('where the mail cannot be sent the answer says so, the account is kept, and asking again works at once', async () => {
  let isDown = true
  const sent: string[] = []
  const failing = await startAuthService({
    mailIntervalS: 60,
    mail: {
      isRemote: true,
      async send(to) {
        if (isDown) throw new Error('connection refused')
        sent.push(to)
      },
    },
  })
  const email = 'waiting@example.test'
  const answer = await failing.post('/signup', { email, password: PASSWORD })
  expect(answer.status).toBe(500)
  expect(await answer.json()).toMatchObject({
    code: 500,
    error_code: 'unexpected_failure',
    msg: 'Error sending confirmation email',
    error_id: expect.any(String) as string,
  })
  isDown = false
  const resent = await failing.newClient().auth.resend({ type: 'signup', email })
  expect(resent.error).toBeNull()
  expect(sent).toEqual([email])
  await failing.close()
})
