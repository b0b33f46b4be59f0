/** Several parties ask for an account with one unconfirmed address; its owner follows a mail. */
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { pressButton } from '#test/press-button.ts'

const STRANGERS = 'set by a stranger'
const BACK = 'https://app.example.com/back'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService({ anonymous: true })
})
afterAll(() => service.close())

const signUp = async (email: string, password: string, data = {}) => {
  const { error } = await service.newClient().auth.signUp({ email, password, options: { data } })
  expect(error).toBeNull()
}
const links = async (email: string) =>
  (await service.mails(email)).map(({ text }) => /https?:\/\/\S+/.exec(text)?.[0] ?? '').toReversed()
let visitors = 0
/** Each visitor has an address, so that no rate limit is shared. */
const follow = async (link: string | undefined) => {
  const headers = { 'x-forwarded-for': `203.0.113.${(visitors += 1)}` }
  const followed = await pressButton(link ?? '', headers)
  return new URL(followed.headers.get('location') ?? '')
}
const signIn = (email: string, password: string) => service.newClient().auth.signInWithPassword({ email, password })

/** The account behind the tokens of a followed link. */
async function accountOf(page: URL) {
  const token = new URLSearchParams(page.hash.slice(1)).get('access_token') ?? ''
  const { data } = await service.newClient().auth.getUser(token)
  return { user: data.user, token }
}

async function expectNoPassword(email: string, page: URL) {
  const { user, token } = await accountOf(page)
  expect(user).toMatchObject({ email, app_metadata: { needs_password: true } })
  for (const password of [STRANGERS, PASSWORD]) {
    expect((await signIn(email, password)).error?.code).toMatch(/^(invalid_credentials|email_not_confirmed)$/)
  }
  return { user, token }
}

test.each([
  ['the stranger first', [STRANGERS, PASSWORD]],
  ['the owner first', [PASSWORD, STRANGERS]],
  ['the stranger on both sides', [STRANGERS, PASSWORD, STRANGERS]],
] as const)('two passwords for one address: confirming sets none, by either link (%s)', async (name, passwords) => {
  for (const [index] of passwords.entries()) {
    const email = `contested-${index}-${name.replaceAll(' ', '-')}@example.test`
    for (const password of passwords) await signUp(email, password, { name: password })
    const { user, token } = await expectNoPassword(email, await follow((await links(email))[index]))
    expect(user?.user_metadata).not.toHaveProperty('name')
    const changed = await fetch(`${service.url}/auth/v1/user`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ password: 'chosen by the owner' }),
    })
    expect(z.object({ app_metadata: z.looseObject({}) }).parse(await changed.json()).app_metadata).not.toHaveProperty(
      'needs_password',
    )
    expect((await signIn(email, 'chosen by the owner')).error).toBeNull()
  }
})

test('the same password twice is not contested; its later metadata count, and the earlier link works', async () => {
  const email = 'twice@example.test'
  await signUp(email, PASSWORD, { name: 'Adda' })
  await signUp(email, PASSWORD, { name: 'Ada' })
  const { user } = await accountOf(await follow((await links(email))[0]))
  expect(user?.user_metadata).toMatchObject({ name: 'Ada', email_verified: true })
  expect(user?.app_metadata).toEqual({ provider: 'email', providers: ['email'] })
  expect((await signIn(email, PASSWORD)).error).toBeNull()
  expect((await follow((await links(email))[1])).hash).toContain('otp_expired')
})

test('an earlier link stays valid until its own end, also after a resend, and the codes of earlier mails do not', async () => {
  const email = 'earlier@example.test'
  await signUp(email, PASSWORD)
  const code = await service.codeFor(email)
  const ask = service.newClient().auth
  expect((await ask.resend({ type: 'signup', email })).error).toBeNull()
  expect((await ask.verifyOtp({ email, token: code, type: 'signup' })).error?.code).toBe('otp_expired')
  await service.admin.query(
    `update auth.earlier_links set expires_at = now() where user_id = (select id from auth.users where email = $1)`,
    [email],
  )
  expect((await follow((await links(email))[0])).hash).toContain('otp_expired')
  expect((await ask.resend({ type: 'signup', email })).error).toBeNull()
  expect((await follow((await links(email))[1])).hash).toContain('access_token')
})

test('a stranger who asks for further mails voids no link of a magic link or a recovery', async () => {
  const email = 'asked@example.test'
  await service.signedIn(email)
  const before = (await links(email)).length
  await service.newClient().auth.resetPasswordForEmail(email)
  await service.newClient().auth.signInWithOtp({ email })
  await service.newClient().auth.resetPasswordForEmail(email)
  for (const link of (await links(email)).slice(before)) expect((await follow(link)).hash).toContain('access_token')
})

const endLinks = async (email: string) => {
  const { rows } = await service.admin.query<{ id: string }>('select id from auth.users where email = $1', [email])
  for (const table of ['one_time_tokens', 'earlier_links']) {
    await service.admin.query(`update auth.${table} set expires_at = now() where user_id = $1`, [rows[0]?.id])
  }
}

test('a sign-up whose links have ended still contests a later one, since its owner may follow the newest mail', async () => {
  for (const [index, passwords] of [
    [PASSWORD, STRANGERS],
    [STRANGERS, PASSWORD],
  ].entries()) {
    const email = `ended-${index}@example.test`
    for (const password of passwords) {
      await endLinks(email)
      await signUp(email, password, { name: password })
    }
    const [ended, newest] = await links(email)
    expect((await follow(ended)).hash).toContain('otp_expired')
    const { user } = await expectNoPassword(email, await follow(newest))
    expect(user?.user_metadata).not.toHaveProperty('name')
  }
})

test('a magic link that ended contests a later sign-up, and a sign-up a later magic link', async () => {
  const email = 'ended-magic@example.test'
  await service.newClient().auth.signInWithOtp({ email, options: { data: { name: 'Ada' } } })
  await endLinks(email)
  await signUp(email, STRANGERS, { name: 'stranger' })
  const { user } = await expectNoPassword(email, await follow((await links(email))[1]))
  expect(user?.user_metadata).not.toHaveProperty('name')

  const other = 'ended-sign-up@example.test'
  await signUp(other, STRANGERS, { name: 'stranger' })
  await endLinks(other)
  await service.newClient().auth.signInWithOtp({ email: other })
  const entered = await expectNoPassword(other, await follow((await links(other))[1]))
  expect(entered.user?.user_metadata).not.toHaveProperty('name')
})

test('the same password after the links have ended is not contested', async () => {
  const email = 'ended-same@example.test'
  await signUp(email, PASSWORD)
  await endLinks(email)
  await signUp(email, PASSWORD, { name: 'Ada' })
  const { user } = await accountOf(await follow((await links(email))[1]))
  expect(user?.user_metadata).toMatchObject({ name: 'Ada' })
  expect((await signIn(email, PASSWORD)).error).toBeNull()
})

test('the PKCE flow of a stranger gives its program no session, and the password is contested all the same', async () => {
  const email = 'flows@example.test'
  const strangers = service.newPkceClient()
  await signUp(email, PASSWORD)
  await strangers.auth.signUp({ email, password: STRANGERS, options: { emailRedirectTo: BACK } })
  const page = await follow((await links(email))[0])
  await expectNoPassword(email, page)
  const late = await follow((await links(email))[1])
  expect(late.searchParams.get('code')).toBeNull()
  expect((await service.admin.query('select from auth.flow_state')).rowCount).toBe(0)
})

test('a magic link or a recovery for an address that signed up contests its password', async () => {
  for (const [index, ask] of [
    (email: string) => service.newClient().auth.signInWithOtp({ email }),
    (email: string) => service.newClient().auth.resetPasswordForEmail(email),
    (email: string) => service.newClient().auth.signInWithOtp({ email, options: { shouldCreateUser: false } }),
  ].entries()) {
    for (const followed of [0, 1]) {
      const email = `mailed-${index}-${followed}@example.test`
      await signUp(email, STRANGERS, { name: 'stranger' })
      expect((await ask(email)).error).toBeNull()
      const { user } = await expectNoPassword(email, await follow((await links(email))[followed]))
      expect(user?.user_metadata).not.toHaveProperty('name')
    }
  }
})

test('a sign-up after a magic link sets no password either, and metadata that differ are dropped', async () => {
  const email = 'magic-first@example.test'
  await service.newClient().auth.signInWithOtp({ email, options: { data: { name: 'Ada' } } })
  await signUp(email, STRANGERS)
  await expectNoPassword(email, await follow((await links(email))[1]))

  for (const [data, expected] of [
    [{ name: 'Ada' }, 'Ada'],
    [{ name: 'stranger' }, undefined],
  ] as const) {
    const magic = `magic-then-${data.name.toLowerCase()}@example.test`
    await service.newClient().auth.signInWithOtp({ email: magic, options: { data: { name: 'Ada' } } })
    await service.newClient().auth.signInWithOtp({ email: magic, options: { data } })
    const { user } = await accountOf(await follow((await links(magic))[1]))
    expect(user?.user_metadata['name']).toBe(expected)
    expect(user?.app_metadata).not.toHaveProperty('needs_password')
  }
})

test('a sign-up at an invited address changes neither what the operator set nor the invitation', async () => {
  const email = 'invited@example.test'
  await service.newAdmin().inviteUserByEmail(email, { data: { team: 'blue' } })
  await signUp(email, STRANGERS, { team: 'red' })
  const { user } = await expectNoPassword(email, await follow((await links(email))[0]))
  expect(user?.user_metadata).toMatchObject({ team: 'blue' })
})

test('an invitation replaces what was signed up with', async () => {
  const email = 'invited-late@example.test'
  await signUp(email, STRANGERS, { team: 'red' })
  await service.newAdmin().inviteUserByEmail(email, { data: { team: 'blue' } })
  const { user } = await accountOf(await follow((await links(email))[1]))
  expect(user?.user_metadata).toMatchObject({ team: 'blue' })
  expect((await signIn(email, STRANGERS)).error?.code).toBe('email_not_confirmed')
})

test('a sign-up keeps the password that the operator gave an account, also one without an invitation', async () => {
  for (const [name, make] of [
    ['linked', (email: string) => service.newAdmin().generateLink({ type: 'signup', email, password: PASSWORD })],
    ['created', (email: string) => service.newAdmin().createUser({ email, password: PASSWORD })],
  ] as const) {
    const email = `given-${name}@example.test`
    expect((await make(email)).error).toBeNull()
    await signUp(email, STRANGERS, { team: 'red' })
    const { user } = await accountOf(await follow((await links(email)).at(-1)))
    expect(user?.app_metadata).not.toHaveProperty('needs_password')
    expect(user?.user_metadata).not.toHaveProperty('team')
    expect((await signIn(email, PASSWORD)).error).toBeNull()
    expect((await signIn(email, STRANGERS)).data.session).toBeNull()
  }
})

test('an operator who confirms a contested account activates no password; one that the operator sets counts', async () => {
  const email = 'by-hand@example.test'
  await signUp(email, STRANGERS)
  await signUp(email, PASSWORD)
  const { rows } = await service.admin.query<{ id: string }>('select id from auth.users where email = $1', [email])
  const id = rows[0]?.id ?? ''
  await service.newAdmin().updateUserById(id, { email_confirm: true })
  for (const password of [STRANGERS, PASSWORD]) expect((await signIn(email, password)).error).not.toBeNull()
  const { data } = await service.newAdmin().updateUserById(id, { password: 'given by the operator' })
  expect(data.user?.app_metadata).not.toHaveProperty('needs_password')
  expect((await signIn(email, 'given by the operator')).error).toBeNull()
})

test('a confirmation ends sessions, factors and linked providers that were prepared in the account', async () => {
  const email = 'prepared@example.test'
  await signUp(email, STRANGERS)
  const { rows } = await service.admin.query<{ id: string }>('select id from auth.users where email = $1', [email])
  const id = rows[0]?.id ?? ''
  await service.admin.query('insert into auth.sessions (user_id) values ($1)', [id])
  await service.admin.query(
    `insert into auth.mfa_factors (user_id, factor_type, status) values ($1, 'totp', 'verified')`,
    [id],
  )
  await service.admin.query(
    `insert into auth.identities (provider_id, user_id, identity_data, provider) values ($2, $1, '{}', 'github')`,
    [id, randomUUID()],
  )
  const { user } = await accountOf(await follow((await links(email))[0]))
  expect(user).toMatchObject({ identities: [{ provider: 'email' }], app_metadata: { providers: ['email'] } })
  expect(user).not.toHaveProperty('factors')
  expect((await service.admin.query('select from auth.sessions where user_id = $1', [id])).rowCount).toBe(1)
})

/** An account without an address that asks for one, with a password, as a stranger's program may. */
async function upgrade(email: string) {
  const client = service.newClient()
  await client.auth.signInAnonymously()
  expect((await client.auth.updateUser({ email, password: STRANGERS })).error).toBeNull()
  return client
}

test.each(['before', 'after'] as const)(
  'an anonymous account that wants the address %s the sign-up does not get it, and the sign-up sets no password',
  async (when) => {
    const email = `upgraded-${when}@example.test`
    const before = when === 'before' ? await upgrade(email) : undefined
    await signUp(email, PASSWORD)
    const stranger = before ?? (await upgrade(email))
    const [change, confirmation] = when === 'before' ? [0, 1] : [1, 0]
    const mailed = await links(email)
    expect((await follow(mailed[change])).hash).toContain('email_exists')
    await expectNoPassword(email, await follow(mailed[confirmation]))
    const { data } = await stranger.auth.getUser()
    expect(data.user).toMatchObject({ is_anonymous: true })
    expect(data.user?.email ?? '').not.toBe(email)
  },
)

/** A confirmed account with a linked provider and a second factor, which asks for `email`. */
async function wanting(name: string, email: string) {
  const old = `${name}@example.test`
  const { client, user } = await service.signedIn(old)
  await service.admin.query(
    `insert into auth.identities (provider_id, user_id, identity_data, provider) values ($2, $1, '{}', 'github')`,
    [user.id, randomUUID()],
  )
  expect((await client.auth.updateUser({ email })).error).toBeNull()
  return { client, id: user.id, old, linkToOld: (await links(old)).at(-1), linkToNew: (await links(email)).at(-1) }
}

test.each(['old', 'new'] as const)(
  'a change to an address that signed up is refused and alters neither account, the link to the %s address last',
  async (last) => {
    for (const order of ['change first', 'sign-up first']) {
      const email = `wanted-${last}-${order.replace(' ', '-')}@example.test`
      if (order === 'sign-up first') await signUp(email, PASSWORD)
      const other = await wanting(`wanting-${last}-${order.replace(' ', '-')}`, email)
      if (order === 'change first') await signUp(email, PASSWORD)
      const confirmation = (await links(email)).find((link) => link.includes('type=signup'))
      const [first, second] = last === 'old' ? [other.linkToNew, other.linkToOld] : [other.linkToOld, other.linkToNew]
      expect((await follow(first)).hash).toContain('Confirmation+link+accepted')
      // The link stays valid: it is refused again, not used up.
      for (const again of [second, second]) {
        const page = await follow(again)
        expect(page.hash).toContain('email_exists')
        expect(page.hash).not.toContain('access_token')
      }
      const { data } = await other.client.auth.getUser()
      expect(data.user).toMatchObject({ id: other.id, email: other.old })
      expect(data.user?.identities?.map(({ provider }) => provider).toSorted()).toEqual(['email', 'github'])
      expect((await signIn(other.old, PASSWORD)).error).toBeNull()
      const { user } = await expectNoPassword(email, await follow(confirmation))
      expect(user?.id).not.toBe(other.id)
      expect((await follow(second)).hash).toContain('email_exists')
    }
  },
)

test('ended links of a sign-up contest a change, and the reverse, and so do two changes to one address', async () => {
  const email = 'wanted-late@example.test'
  await signUp(email, PASSWORD)
  await endLinks(email)
  const late = await wanting('wanting-late', email)
  await follow(late.linkToOld)
  expect((await follow(late.linkToNew)).hash).toContain('email_exists')

  const ended = 'wanted-before@example.test'
  const before = await wanting('wanting-before', ended)
  await endLinks(before.old)
  await signUp(ended, STRANGERS, { name: 'stranger' })
  const { user } = await expectNoPassword(ended, await follow((await links(ended)).at(-1)))
  expect(user?.user_metadata).not.toHaveProperty('name')

  const both = 'wanted-twice@example.test'
  const [one, other] = [await wanting('wanting-one', both), await wanting('wanting-other', both)]
  for (const link of [one.linkToOld, other.linkToOld]) await follow(link)
  for (const link of [one.linkToNew, other.linkToNew]) expect((await follow(link)).hash).toContain('email_exists')
  for (const { client, old } of [one, other]) expect((await client.auth.getUser()).data.user?.email).toBe(old)
})

test('an anonymous account that nobody else contests keeps its session and the password it set', async () => {
  const email = 'peaceful@example.test'
  const client = await upgrade(email)
  expect((await follow((await links(email))[0])).hash).toContain('access_token')
  expect((await client.auth.getUser()).data.user).toMatchObject({ email, is_anonymous: false })
  expect((await signIn(email, STRANGERS)).error).toBeNull()
})

test('without confirmation mails, a sign-up takes over no invited or pending account', async () => {
  const automatic = await startAuthService({ autoconfirm: true })
  await automatic.newAdmin().createUser({ email: 'prepared@example.test', app_metadata: { team: 'admins' } })
  await automatic.newClient().auth.signInWithOtp({ email: 'waiting@example.test' })
  for (const email of ['prepared@example.test', 'waiting@example.test']) {
    const { error } = await automatic.newClient().auth.signUp({ email, password: STRANGERS })
    expect(error).toMatchObject({ status: 422, code: 'user_already_exists' })
  }
  await automatic.close()
})

test('the digits of a mail still sign in after its link was opened in another browser, and once only', async () => {
  const email = 'elsewhere@example.test'
  await service.signedIn(email)
  const client = service.newPkceClient()
  await client.auth.signInWithOtp({ email })
  const page = await follow(await service.linkFor(email))
  const code = await service.codeFor(email)
  expect((await client.auth.verifyOtp({ email, token: code, type: 'email' })).error).toBeNull()
  const late = await client.auth.exchangeCodeForSession(page.searchParams.get('code') ?? '')
  expect(late.error?.code).toBe('flow_state_not_found')

  const verifier = 'v'.repeat(64)
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  await service.post('/recover', { email, code_challenge, code_challenge_method: 's256' })
  const digits = await service.codeFor(email)
  const auth_code = (await follow(await service.linkFor(email))).searchParams.get('code') ?? ''
  expect((await service.post('/token?grant_type=pkce', { auth_code, code_verifier: verifier })).status).toBe(200)
  const again = await service.newClient().auth.verifyOtp({ email, token: digits, type: 'recovery' })
  expect(again.error?.code).toBe('otp_expired')
})
