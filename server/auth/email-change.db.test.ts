import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { pressButton } from '#test/press-button.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

/** A person `old@…` who asked to be `new@…`. */
async function changing(name: string) {
  const [oldEmail, newEmail] = [`old-${name}@example.test`, `new-${name}@example.test`]
  const person = await service.signedIn(oldEmail)
  const { data, error } = await person.client.auth.updateUser({ email: newEmail })
  if (error) throw error
  return { ...person, oldEmail, newEmail, answered: data.user }
}

const verify = async (email: string) =>
  service.newClient().auth.verifyOtp({ email, token: await service.codeFor(email), type: 'email_change' })
const signIn = (email: string) => service.newClient().auth.signInWithPassword({ email, password: PASSWORD })

test('an address changes once both mails were read, in either order', async () => {
  for (const order of ['old first', 'new first']) {
    const { answered, user, oldEmail, newEmail } = await changing(order.replace(' ', '-'))
    expect(answered).toMatchObject({ email: oldEmail, new_email: newEmail })
    const [first, second] = order === 'old first' ? [oldEmail, newEmail] : [newEmail, oldEmail]
    const half = await service.post('/verify', {
      email: first,
      token: await service.codeFor(first),
      type: 'email_change',
    })
    expect([half.status, await half.json()]).toEqual([
      200,
      { code: '200', msg: 'Confirmation link accepted. Please proceed to confirm link sent to the other email' },
    ])
    expect((await signIn(oldEmail)).error).toBeNull()
    const whole = await verify(second)
    expect(whole.error).toBeNull()
    expect(whole.data.user).toMatchObject({ id: user.id, email: newEmail, user_metadata: { email: newEmail } })
    expect(whole.data.user?.identities).toMatchObject([{ provider: 'email', email: newEmail }])
    expect(whole.data.user).not.toHaveProperty('new_email')
    expect((await signIn(oldEmail)).error?.code).toBe('invalid_credentials')
    expect((await signIn(newEmail)).error).toBeNull()
  }
})

test('the same mail read twice is not both mails', async () => {
  const { client, oldEmail, newEmail } = await changing('twice')
  expect((await verify(newEmail)).data.session).toBeNull()
  expect((await verify(newEmail)).error?.code).toBe('otp_expired')
  expect((await client.auth.resend({ type: 'email_change', email: oldEmail })).error).toBeNull()
  expect((await verify(newEmail)).data.session).toBeNull()
  expect((await client.auth.getUser()).data.user?.email).toBe(oldEmail)
})

test('links do the same, and the first one says so on the page that it leads to', async () => {
  const { oldEmail, newEmail } = await changing('links')
  const follow = async (email: string) => (await pressButton(await service.linkFor(email))).headers.get('location')
  expect(await follow(newEmail)).toContain('#message=Confirmation+link+accepted')
  expect(await follow(oldEmail)).toMatch(/#access_token=.*&type=email_change/)
  expect((await signIn(newEmail)).error).toBeNull()
})

test('with PKCE the second link ends in a code', async () => {
  const email = 'pkce-old@example.test'
  await service.signedIn(email)
  const client = service.newPkceClient()
  await client.auth.signInWithPassword({ email, password: PASSWORD })
  expect((await client.auth.updateUser({ email: 'pkce-new@example.test' })).error).toBeNull()
  const follow = async (to: string) => {
    const followed = await pressButton(await service.linkFor(to))
    return new URL(followed.headers.get('location') ?? '').searchParams
  }
  expect((await follow(email)).get('message')).toMatch(/^Confirmation link accepted/)
  const code = (await follow('pkce-new@example.test')).get('code') ?? ''
  const { data, error } = await client.auth.exchangeCodeForSession(code)
  expect([data.user?.email, error]).toEqual(['pkce-new@example.test', null])
})

test('codes for an address that was asked for before confirm no other one', async () => {
  const { client, oldEmail, newEmail } = await changing('earlier')
  const earlier = await service.codeFor(newEmail)
  await service.signedIn('victim@example.test')
  expect((await client.auth.updateUser({ email: 'victim@example.test' })).error).toBeNull()
  const reused = await service.newClient().auth.verifyOtp({ email: newEmail, token: earlier, type: 'email_change' })
  expect(reused.error?.code).toBe('otp_expired')
  expect((await verify(oldEmail)).data.session).toBeNull()
  expect((await client.auth.getUser()).data.user?.email).toBe(oldEmail)
})

test('a taken address is answered like a free one, and only its owner is told', async () => {
  await service.signedIn('taken@example.test')
  const { client, user } = await service.signedIn('curious@example.test')
  const free = await client.auth.updateUser({ email: 'free@example.test' })
  const taken = await client.auth.updateUser({ email: 'taken@example.test' })
  expect([taken.error, free.error]).toEqual([null, null])
  const shape = ({ data }: typeof taken) => Object.keys(data.user ?? {}).toSorted()
  expect(shape(taken)).toEqual(shape(free))
  expect(taken.data.user).toMatchObject({ id: user.id, new_email: 'taken@example.test' })
  const codes = await service.admin.query('select from auth.one_time_tokens where relates_to = $1', [
    'taken@example.test',
  ])
  expect(codes.rowCount).toBe(0)
  expect((await service.mails('taken@example.test'))[0]?.subject).toContain('already have')
  expect((await service.mails('free@example.test'))[0]?.subject).toContain('new e-mail')
})

test('an address that another account took meanwhile, or that waits at a sign-up, is refused', async () => {
  const late = await changing('late')
  await verify(late.oldEmail)
  await service.admin.query(`insert into auth.users (email, email_confirmed_at) values ($1, now())`, [late.newEmail])
  expect((await verify(late.newEmail)).error).toMatchObject({ status: 422, code: 'email_exists' })

  const squatted = await changing('squatted')
  await service.newClient().auth.signUp({ email: squatted.newEmail, password: 'set by a stranger' })
  await squatted.client.auth.updateUser({ email: squatted.newEmail })
  await verify(squatted.oldEmail)
  expect((await verify(squatted.newEmail)).error).toMatchObject({ status: 422, code: 'email_exists' })
  const { data } = await squatted.client.auth.getUser()
  expect(data.user).toMatchObject({ id: squatted.user.id, email: squatted.oldEmail })
  expect((await signIn(squatted.oldEmail)).error).toBeNull()
  await service.admin.query('delete from auth.users where email = $1', [squatted.newEmail])
  expect((await verify(squatted.newEmail)).data.user).toMatchObject({ id: squatted.user.id, email: squatted.newEmail })
})

test('an account that the operator made, without an invitation, is taken', async () => {
  const email = 'made@example.test'
  const made = await service.newAdmin().createUser({ email, app_metadata: { team: 'admins' } })
  const { client, user } = await service.signedIn('wants-made@example.test')
  await client.auth.updateUser({ email })
  expect((await service.mails(email))[0]?.subject).toContain('already have')
  const codes = await service.admin.query('select from auth.one_time_tokens where relates_to = $1', [email])
  expect(codes.rowCount).toBe(0)
  const link = { type: 'email_change_new', email: 'wants-made@example.test', newEmail: email } as const
  expect((await service.newAdmin().generateLink(link)).error?.code).toBe('email_exists')
  expect((await service.newAdmin().updateUserById(user.id, { email })).error?.code).toBe('email_exists')
  const unchanged = await service.newAdmin().getUserById(made.data.user?.id ?? '')
  expect(unchanged.data.user).toMatchObject({ email, app_metadata: { team: 'admins' } })
})

test('an account that the operator makes while a change waits keeps the address', async () => {
  const { client, user, oldEmail, newEmail } = await changing('made-later')
  const made = await service.newAdmin().createUser({ email: newEmail })
  await verify(oldEmail)
  expect((await verify(newEmail)).error).toMatchObject({ status: 422, code: 'email_exists' })
  expect((await client.auth.getUser()).data.user).toMatchObject({ id: user.id, email: oldEmail })
  expect((await service.newAdmin().getUserById(made.data.user?.id ?? '')).data.user?.email).toBe(newEmail)
})

test('the operator may give an account the address of a pending sign-up, which ends it', async () => {
  const email = 'given@example.test'
  const { user } = await service.signedIn('before-given@example.test')
  await service.newClient().auth.signUp({ email, password: 'set by a stranger' })
  const given = await service.newAdmin().updateUserById(user.id, { email })
  expect([given.error, given.data.user?.email]).toEqual([null, email])
})

test('a changed password voids a change of the address that is under way', async () => {
  const { client, oldEmail, newEmail } = await changing('voided')
  const code = await service.codeFor(newEmail)
  expect((await client.auth.updateUser({ password: 'a new quiet corner' })).error).toBeNull()
  const late = await service.newClient().auth.verifyOtp({ email: newEmail, token: code, type: 'email_change' })
  expect(late.error?.code).toBe('otp_expired')
  expect((await verify(oldEmail)).error?.code).toBe('otp_expired')
})

test('what is no address is refused, and one’s own changes nothing', async () => {
  const email = 'same@example.test'
  const { client } = await service.signedIn(email)
  const bad = await client.auth.updateUser({ email: 'no address' })
  expect(bad.error).toMatchObject({ status: 400, code: 'validation_failed' })
  const same = await client.auth.updateUser({ email: 'Same@Example.test' })
  expect([same.error, same.data.user?.new_email]).toEqual([null, undefined])
})

test('resend of a change writes only where one is under way', async () => {
  const { client, newEmail } = await changing('resent')
  await service.signedIn('settled@example.test')
  const before = await service.mails()
  for (const email of ['settled@example.test', 'nobody@example.test']) {
    expect((await client.auth.resend({ type: 'email_change', email })).error).toBeNull()
  }
  expect((await service.mails()).length).toBe(before.length)
  await client.auth.resend({ type: 'email_change', email: 'old-resent@example.test' })
  expect((await service.mails(newEmail)).length).toBe(2)
})
