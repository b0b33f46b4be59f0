import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { pressButton } from '#test/press-button.ts'

let service: AuthTestService
let admin: ReturnType<AuthTestService['newAdmin']>
beforeAll(async () => {
  service = await startAuthService({ signup: 'invite' })
  admin = service.newAdmin()
})
afterAll(() => service.close())

const BACK = 'https://app.example.com/back'

test('by invitation alone, nobody signs up by themselves, whether invited or not', async () => {
  await admin.inviteUserByEmail('invited@example.test')
  const client = service.newClient()
  for (const email of ['invited@example.test', 'uninvited@example.test']) {
    const refused = await client.auth.signUp({ email, password: PASSWORD })
    expect(refused.error).toMatchObject({ status: 422, code: 'signup_disabled' })
  }
  expect((await client.auth.signInWithOtp({ email: 'uninvited@example.test' })).error).toBeNull()
  expect(await service.mails('uninvited@example.test')).toEqual([])
  const settings: unknown = await (await fetch(`${service.url}/auth/v1/settings`)).json()
  expect(settings).toMatchObject({ disable_signup: true })
})

test('an invitation leads into an account, by link or code, whose owner then chooses a password', async () => {
  const email = 'guest@example.test'
  const invited = await admin.inviteUserByEmail(email, { data: { team: 'blue' }, redirectTo: BACK })
  expect(invited.data.user).toMatchObject({
    email,
    invited_at: expect.any(String) as string,
    user_metadata: { team: 'blue' },
  })
  expect(invited.data.user).not.toHaveProperty('confirmed_at')
  const link = new URL(await service.linkFor(email))
  expect([link.searchParams.get('type'), link.searchParams.get('redirect_to')]).toEqual(['invite', BACK])
  const client = service.newClient()
  const { data, error } = await client.auth.verifyOtp({ email, token: await service.codeFor(email), type: 'invite' })
  expect([data.user?.email_confirmed_at !== undefined, error]).toEqual([true, null])
  expect((await client.auth.updateUser({ password: PASSWORD })).error).toBeNull()
  expect((await service.newClient().auth.signInWithPassword({ email, password: PASSWORD })).error).toBeNull()
  expect((await admin.inviteUserByEmail(email)).error).toMatchObject({ status: 422, code: 'email_exists' })
})

test('a repeated invitation voids the link before it', async () => {
  const email = 'reminded@example.test'
  await admin.inviteUserByEmail(email)
  const first = await service.linkFor(email)
  await admin.inviteUserByEmail(email)
  const follow = async (link: string) => (await pressButton(link)).headers.get('location')
  expect(await follow(first)).toContain('error_code=otp_expired')
  expect(await follow(await service.linkFor(email))).toMatch(/#access_token=.*&type=invite/)
})

test('where sign-ups are closed nobody is invited either', async () => {
  const closed = await startAuthService({ signup: 'closed' })
  const email = 'a@example.test'
  expect((await closed.newAdmin().inviteUserByEmail(email)).error?.code).toBe('signup_disabled')
  expect((await closed.newAdmin().generateLink({ type: 'invite', email })).error?.code).toBe('signup_disabled')
  await closed.close()
})

test('links are made for the operator to send: each opens what its type says, and no mail goes out', async () => {
  const before = (await service.mails()).length
  const email = 'linked@example.test'
  const made = await admin.generateLink({ type: 'signup', email, password: PASSWORD, options: { redirectTo: BACK } })
  expect(made.error).toBeNull()
  expect(made.data.user).toMatchObject({ email, identities: [{ provider: 'email' }] })
  expect(made.data.properties).toMatchObject({
    verification_type: 'signup',
    redirect_to: BACK,
    email_otp: expect.stringMatching(/^\d{6}$/) as string,
  })
  const { action_link: link = '', hashed_token: hash = '' } = made.data.properties ?? {}
  expect(new URL(link).searchParams.get('token')).toBe(hash)
  const followed = await pressButton(link)
  expect(followed.headers.get('location')).toMatch(/^https:\/\/app\.example\.com\/back#access_token=/)

  for (const type of ['magiclink', 'recovery'] as const) {
    const { data } = await admin.generateLink({ type, email })
    const token_hash = data.properties?.hashed_token ?? ''
    const verified = await service.newClient().auth.verifyOtp({ token_hash, type })
    expect([verified.data.user?.id, verified.error]).toEqual([made.data.user?.id, null])
  }
  const invited = await admin.generateLink({ type: 'invite', email: 'by-link@example.test' })
  const token = invited.data.properties?.email_otp ?? ''
  const accepted = await service.newClient().auth.verifyOtp({ email: 'by-link@example.test', token, type: 'invite' })
  expect(accepted.error).toBeNull()
  expect((await service.mails()).length).toBe(before)
})

test('the two links of a changed address are made one by one, and both are needed', async () => {
  const email = 'moving@example.test'
  const newEmail = 'moved@example.test'
  await admin.createUser({ email, email_confirm: true })
  const hashes = []
  for (const type of ['email_change_current', 'email_change_new'] as const) {
    const { data, error } = await admin.generateLink({ type, email, newEmail })
    expect(error).toBeNull()
    hashes.push(data.properties?.hashed_token ?? '')
  }
  const verify = (token_hash: string) => service.newClient().auth.verifyOtp({ token_hash, type: 'email_change' })
  expect((await verify(hashes[1] ?? '')).data.session).toBeNull()
  expect((await verify(hashes[0] ?? '')).data.user?.email).toBe(newEmail)
})

test('a link for nobody, or of an unknown type, is refused', async () => {
  const recovery = await admin.generateLink({ type: 'recovery', email: 'nobody@example.test' })
  expect(recovery.error).toMatchObject({ status: 404, code: 'user_not_found' })
  const magic = await admin.generateLink({ type: 'magiclink', email: 'new@example.test' })
  expect(magic.data.properties?.verification_type).toBe('signup')
  await admin.createUser({ email: 'there@example.test', email_confirm: true })
  const taken = await admin.generateLink({ type: 'signup', email: 'there@example.test', password: PASSWORD })
  expect(taken.error?.code).toBe('email_exists')
  const unknown = await service.post(
    '/admin/generate_link',
    { type: 'toString', email: 'there@example.test' },
    { authorization: `Bearer ${service.tokens.serviceRoleKey}` },
  )
  expect(unknown.status).toBe(400)
})
