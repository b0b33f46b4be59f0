import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService({ passwordNeedsNonce: true })
})
afterAll(() => service.close())

const NEXT = 'a new quiet corner'
const age = (userId: string) =>
  service.admin.query(`update auth.sessions set created_at = now() - interval '25 hours' where user_id = $1`, [userId])

test('in a session older than a day a new password needs the code that was mailed, which works once', async () => {
  const email = 'old-session@example.test'
  const { client, user } = await service.signedIn(email)
  await age(user.id)
  const without = await client.auth.updateUser({ password: NEXT })
  expect(without.error).toMatchObject({ status: 400, code: 'reauthentication_needed' })
  expect((await client.auth.reauthenticate()).error).toBeNull()
  const letter = (await service.mails(email))[0]
  expect(letter?.text).not.toContain('http')
  const nonce = await service.codeFor(email)
  const wrong = await client.auth.updateUser({ password: NEXT, nonce: nonce === '000000' ? '000001' : '000000' })
  expect(wrong.error).toMatchObject({
    status: 422,
    code: 'reauthentication_not_valid',
    message: 'Nonce has expired or is invalid',
  })
  const right = await client.auth.updateUser({ password: NEXT, nonce })
  expect(right.error).toBeNull()
  expect(right.data.user).not.toHaveProperty('nonce')
  const reused = await client.auth.updateUser({ password: PASSWORD, nonce })
  expect(reused.error?.code).toBe('reauthentication_not_valid')
})

test('a fresh session needs no code, but one that is brought has to be right', async () => {
  const { client } = await service.signedIn('fresh@example.test')
  expect((await client.auth.updateUser({ password: NEXT, nonce: '123456' })).error?.code).toBe(
    'reauthentication_not_valid',
  )
  expect((await client.auth.updateUser({ password: NEXT })).error).toBeNull()
})

test('the code of one person is of no use to another, and signs nobody in', async () => {
  const email = 'owner@example.test'
  const { client } = await service.signedIn(email)
  const { client: stranger } = await service.signedIn('stranger@example.test')
  await client.auth.reauthenticate()
  const nonce = await service.codeFor(email)
  expect((await stranger.auth.updateUser({ password: NEXT, nonce })).error?.code).toBe('reauthentication_not_valid')
  for (const type of ['email', 'recovery', 'signup', 'email_change'] as const) {
    const signedIn = await service.newClient().auth.verifyOtp({ email, token: nonce, type })
    expect(signedIn.error?.code).toBe('otp_expired')
  }
})

test('after five wrong codes the right one is void', async () => {
  const email = 'guessing@example.test'
  const { client } = await service.signedIn(email)
  await client.auth.reauthenticate()
  const nonce = await service.codeFor(email)
  for (let n = 0; n < 5; n += 1) {
    await client.auth.updateUser({ password: NEXT, nonce: nonce === '000000' ? '000001' : '000000' })
  }
  expect((await client.auth.updateUser({ password: NEXT, nonce })).error?.code).toBe('reauthentication_not_valid')
})

test('an account without a password sets its first one without a code, also in an older session', async () => {
  const email = 'needs-password@example.test'
  const { client, user } = await service.signedIn(email)
  await service.admin.query(
    `update auth.users set encrypted_password = null, raw_app_meta_data = raw_app_meta_data || '{"needs_password": true}'
     where id = $1`,
    [user.id],
  )
  await age(user.id)
  expect((await client.auth.updateUser({ password: NEXT })).error).toBeNull()
  const again = await client.auth.updateUser({ password: 'yet another quiet corner' })
  expect(again.error?.code).toBe('reauthentication_needed')
})

test('who has no confirmed address cannot be asked', async () => {
  const { client, user } = await service.signedIn('unconfirmed@example.test')
  await service.admin.query('update auth.users set email_confirmed_at = null where id = $1', [user.id])
  expect((await client.auth.reauthenticate()).error).toMatchObject({ status: 422, code: 'email_not_confirmed' })
  await service.admin.query('update auth.users set email = null where id = $1', [user.id])
  expect((await client.auth.reauthenticate()).error).toMatchObject({
    status: 400,
    message: 'Reauthentication requires the user to have an email or a phone number',
  })
  const anonymous = await service.newClient().auth.reauthenticate()
  expect(anonymous.error?.name).toBe('AuthSessionMissingError')
})
