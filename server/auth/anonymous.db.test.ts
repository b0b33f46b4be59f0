import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService({ anonymous: true })
})
afterAll(() => service.close())

async function signInAnonymously() {
  const client = service.newClient()
  const { data, error } = await client.auth.signInAnonymously({ options: { data: { name: 'Ada' } } })
  if (error) throw error
  return { client, id: data.user?.id, user: data.user, token: data.session?.access_token ?? '' }
}

test('somebody without an account gets a session that says so', async () => {
  const { client, user, token } = await signInAnonymously()
  expect(user).toMatchObject({ is_anonymous: true, email: '', user_metadata: { name: 'Ada' }, identities: [] })
  expect(await service.tokens.verify(token)).toMatchObject({
    role: 'authenticated',
    is_anonymous: true,
    amr: [{ method: 'anonymous' }],
  })
  expect((await client.auth.refreshSession()).error).toBeNull()
  expect((await client.auth.reauthenticate()).error?.status).toBe(400)
  const factor = await client.auth.mfa.enroll({ factorType: 'totp' })
  expect(factor.error).toMatchObject({ status: 403, code: 'no_authorization' })
  expect((await client.auth.updateUser({ password: PASSWORD })).error).toMatchObject({
    status: 422,
    code: 'validation_failed',
  })
})

test('an address makes it an account that stays, once that is confirmed', async () => {
  const email = 'stays@example.test'
  const { client, id } = await signInAnonymously()
  const asked = await client.auth.updateUser({ email })
  expect(asked.data.user).toMatchObject({ id, is_anonymous: true, new_email: email })
  const { data, error } = await client.auth.verifyOtp({
    email,
    token: await service.codeFor(email),
    type: 'email_change',
  })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({
    id,
    email,
    is_anonymous: false,
    app_metadata: { provider: 'email', providers: ['email'] },
    identities: [{ provider: 'email', email }],
  })
  expect((await client.auth.updateUser({ password: PASSWORD })).error).toBeNull()
  expect((await service.newClient().auth.signInWithPassword({ email, password: PASSWORD })).error).toBeNull()
})

test('without confirmation mails the address counts at once, unless it is taken', async () => {
  const automatic = await startAuthService({ anonymous: true, autoconfirm: true })
  const client = automatic.newClient()
  await client.auth.signInAnonymously()
  await automatic.newClient().auth.signUp({ email: 'taken@example.test', password: PASSWORD })
  expect((await client.auth.updateUser({ email: 'taken@example.test' })).error?.code).toBe('email_exists')
  await automatic.newAdmin().createUser({ email: 'made@example.test', app_metadata: { team: 'admins' } })
  await automatic.newAdmin().inviteUserByEmail('invited@example.test')
  await automatic.newClient().auth.signInWithOtp({ email: 'waiting@example.test' })
  for (const email of ['made@example.test', 'invited@example.test', 'waiting@example.test']) {
    expect((await client.auth.updateUser({ email })).error).toMatchObject({ status: 422, code: 'email_exists' })
    expect((await automatic.admin.query('select from auth.users where email = $1', [email])).rowCount).toBe(1)
  }
  const changed = await client.auth.updateUser({ email: 'free@example.test', password: PASSWORD })
  expect(changed.data.user).toMatchObject({ email: 'free@example.test', is_anonymous: false })
  await automatic.close()
})

test('one address gets thirty such sessions, and none where they are off', async () => {
  const statuses = new Set<number>()
  for (let n = 0; n < 31; n += 1) {
    statuses.add((await service.post('/signup', {}, { 'x-forwarded-for': '192.0.2.99' })).status)
  }
  expect([...statuses]).toEqual([200, 429])
  const invited = await startAuthService({ anonymous: true, signup: 'invite' })
  const refused = await invited.newClient().auth.signInAnonymously()
  expect(refused.error).toMatchObject({ status: 422, code: 'signup_disabled' })
  await invited.close()
})
