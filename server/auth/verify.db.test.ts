import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { pressButton } from '#test/press-button.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

const signUp = (email: string) => service.newClient().auth.signUp({ email, password: PASSWORD })
const wrongCode = (code: string) => (code === '000000' ? '000001' : '000000')

test('a mailed code signs in once', async () => {
  const email = 'code@example.test'
  await signUp(email)
  const token = await service.codeFor(email)
  const client = service.newClient()
  const verified = await client.auth.verifyOtp({ email, token, type: 'signup' })
  expect(verified.error).toBeNull()
  expect(verified.data.session?.user.email_confirmed_at).toBeDefined()
  const again = await client.auth.verifyOtp({ email, token, type: 'signup' })
  expect(again.error).toMatchObject({ status: 403, code: 'otp_expired', message: 'Token has expired or is invalid' })
})

test('two who bring the same code at once: one of them is signed in', async () => {
  const email = 'race@example.test'
  await signUp(email)
  const token = await service.codeFor(email)
  const results = await Promise.all(
    Array.from({ length: 6 }, () => service.newClient().auth.verifyOtp({ email, token, type: 'email' })),
  )
  expect(results.filter(({ error }) => error === null)).toHaveLength(1)
})

test('five wrong codes void the right one, and an unknown address is answered alike', async () => {
  const email = 'guessing@example.test'
  await signUp(email)
  const token = await service.codeFor(email)
  const client = service.newClient()
  const unknown = await client.auth.verifyOtp({ email: 'nobody@example.test', token, type: 'email' })
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const wrong = await client.auth.verifyOtp({ email, token: wrongCode(token), type: 'email' })
    expect(wrong.error).toMatchObject({ status: unknown.error?.status, message: unknown.error?.message })
  }
  const right = await client.auth.verifyOtp({ email, token, type: 'email' })
  expect(right.error?.code).toBe('otp_expired')
})

test('a code is of use to its own address alone, and not after its time', async () => {
  await signUp('one@example.test')
  await signUp('two@example.test')
  const client = service.newClient()
  const token = await service.codeFor('one@example.test')
  const crossed = await client.auth.verifyOtp({ email: 'two@example.test', token, type: 'signup' })
  expect(crossed.error?.code).toBe('otp_expired')
  await service.admin.query(`update auth.one_time_tokens set expires_at = now() where relates_to = 'one@example.test'`)
  const late = await client.auth.verifyOtp({ email: 'one@example.test', token, type: 'signup' })
  expect(late.error?.code).toBe('otp_expired')
})

test('what a sign-up is mailed lasts a day, what signs in an hour', async () => {
  const email = 'lasting@example.test'
  const lives = async () => {
    const { rows } = await service.admin.query<{ kind: string; hours: number }>(
      `select token_type as kind, round(extract(epoch from expires_at - created_at) / 3600)::int as hours
       from auth.one_time_tokens where relates_to = $1`,
      [email],
    )
    return rows
  }
  await signUp(email)
  expect(await lives()).toEqual([{ kind: 'confirmation_token', hours: 24 }])
  await pressButton(await service.linkFor(email))
  await service.newClient().auth.resetPasswordForEmail(email)
  expect(await lives()).toEqual([{ kind: 'recovery_token', hours: 1 }])
})

test('the token of a link signs in as token_hash too, with its own type only', async () => {
  const email = 'hash@example.test'
  await signUp(email)
  const tokenHash = new URL(await service.linkFor(email)).searchParams.get('token') ?? ''
  const client = service.newClient()
  const otherType = await client.auth.verifyOtp({ token_hash: tokenHash, type: 'recovery' })
  expect(otherType.error).toMatchObject({ status: 403, message: 'Email link is invalid or has expired' })
  const verified = await client.auth.verifyOtp({ token_hash: tokenHash, type: 'email' })
  expect(verified.error).toBeNull()
})

test('neither tokens nor codes are stored as they are', async () => {
  const email = 'stored@example.test'
  await signUp(email)
  const stored = await service.admin.query<{ row: string }>(
    `select row_to_json(o)::text as row from auth.one_time_tokens o where relates_to = $1`,
    [email],
  )
  const token = new URL(await service.linkFor(email)).searchParams.get('token') ?? ''
  expect(stored.rows[0]?.row).not.toContain(token)
  expect(stored.rows[0]?.row).not.toContain(`"${await service.codeFor(email)}"`)
})

test('a forgotten password is replaced by way of the mail, and everybody else is signed out', async () => {
  const email = 'forgot@example.test'
  const { client: other } = await service.signedIn(email)
  const client = service.newClient()
  expect((await client.auth.resetPasswordForEmail(email)).error).toBeNull()
  const link = await service.linkFor(email)
  expect(new URL(link).searchParams.get('type')).toBe('recovery')
  const { data } = await client.auth.verifyOtp({ email, token: await service.codeFor(email), type: 'recovery' })
  expect(data.session).not.toBeNull()
  const changed = await client.auth.updateUser({ password: 'a new quiet corner' })
  expect(changed.error).toBeNull()
  expect((await other.auth.getUser()).error?.name).toBe('AuthSessionMissingError')
  expect((await client.auth.signInWithPassword({ email, password: PASSWORD })).error?.code).toBe('invalid_credentials')
  expect((await client.auth.signInWithPassword({ email, password: 'a new quiet corner' })).error).toBeNull()
})

test('recovery and resend answer 200 whether there is an account or not, and mail only where there is', async () => {
  const client = service.newClient()
  const before = (await service.mails()).length
  expect((await client.auth.resetPasswordForEmail('nobody@example.test')).error).toBeNull()
  expect((await client.auth.resend({ type: 'signup', email: 'nobody@example.test' })).error).toBeNull()
  expect((await service.mails()).length).toBe(before)
})

test('where no account may be made, the answer does not tell who has one', async () => {
  await service.signedIn('known@example.test')
  const askFor = async (email: string) => {
    const response = await service.post('/otp', { email, create_user: false }, { 'x-forwarded-for': '203.0.113.77' })
    return { status: response.status, body: await response.text() }
  }
  expect(await askFor('known@example.test')).toEqual(await askFor('unknown@example.test'))
  const made = await service.admin.query(`select from auth.users where email = 'unknown@example.test'`)
  expect(made.rowCount).toBe(0)
})

test('a magic link creates an account unless it may not', async () => {
  const email = 'magic@example.test'
  const client = service.newClient()
  const { error } = await client.auth.signInWithOtp({ email, options: { shouldCreateUser: false } })
  expect(error).toBeNull()
  expect(await service.mails(email)).toEqual([])
  expect((await client.auth.signInWithOtp({ email })).error).toBeNull()
  const followed = await pressButton(await service.linkFor(email))
  expect(followed.headers.get('location')).toMatch(/#access_token=.*&type=magiclink/)
  const noPassword = await client.auth.signInWithPassword({ email, password: '' })
  expect(noPassword.error?.code).toBe('invalid_credentials')
})

test('the digits of a mail still sign in after its link confirmed the address in another browser, and once only', async () => {
  for (const ask of ['signInWithOtp', 'resetPasswordForEmail'] as const) {
    const email = `digits-${ask.toLowerCase()}@example.test`
    const client = service.newPkceClient()
    await client.auth.signUp({ email, password: PASSWORD })
    await (ask === 'signInWithOtp' ? client.auth.signInWithOtp({ email }) : client.auth.resetPasswordForEmail(email))
    const token = await service.codeFor(email)
    const followed = await pressButton(await service.linkFor(email))
    expect(followed.headers.get('location')).toContain('code=')
    const type = ask === 'signInWithOtp' ? 'email' : 'recovery'
    const entered = await client.auth.verifyOtp({ email, token, type })
    expect([entered.data.user?.email, entered.error]).toEqual([email, null])
    expect((await client.auth.verifyOtp({ email, token, type })).error?.code).toBe('otp_expired')
  }
})

test('an address that signs in sets no cookie, since any site can lead a browser to it', async () => {
  const email = 'led@example.test'
  await signUp(email)
  const followed = await pressButton(await service.linkFor(email))
  expect(followed.headers.get('location')).toContain('#access_token=')
  expect(followed.headers.get('set-cookie')).toBeNull()
})

test('a request to verify says what it lacks', async () => {
  for (const [body, message] of [
    [{ token: '123456', email: 'a@example.test' }, 'Verify requires a verification type'],
    [{ type: 'email' }, 'Verify requires either a token or a token hash'],
    [{ type: 'email', token: '1', token_hash: '2' }, 'Verify requires either a token or a token hash'],
    [{ type: 'email', token_hash: '2', email: 'a@example.test' }, 'Only the token_hash and type should be provided'],
    [{ type: 'toString', token_hash: '2' }, 'Invalid email verification type'],
  ] as const) {
    const answer = await service.post('/verify', body)
    expect([answer.status, await answer.json()]).toMatchObject([400, { msg: message }])
  }
})

test('whatever needs a message to a phone answers that none is sent', async () => {
  const { client } = await service.signedIn('no-phone@example.test')
  const phone = '+12025550123'
  const disabled = { status: 400, code: 'phone_provider_disabled', message: 'Unsupported phone provider' }
  for (const type of ['sms', 'phone_change'] as const) {
    expect((await client.auth.verifyOtp({ phone, token: '123456', type })).error).toMatchObject({
      status: 403,
      code: 'otp_expired',
      message: 'Token has expired or is invalid',
    })
    expect((await client.auth.verifyOtp({ phone: '0', token: '123456', type })).error).toMatchObject({
      status: 400,
      code: 'validation_failed',
    })
    expect((await client.auth.resend({ phone, type })).error).toMatchObject(disabled)
  }
  expect((await service.newClient().auth.signInWithOtp({ phone })).error).toMatchObject(disabled)
  const { error } = await client.auth.mfa.enroll({ factorType: 'phone', phone })
  expect(error).toMatchObject({ code: 'mfa_phone_enroll_not_enabled' })
})
