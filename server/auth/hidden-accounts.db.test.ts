/** Whether an address has an account cannot be learned from the service, unless the operator chose so. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { sweepAuth } from './sweep.ts'

const TRIED = 'tried by a stranger'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
  await service.signedIn('taken@example.test')
  await service.newClient().auth.signUp({ email: 'pending@example.test', password: PASSWORD })
  await service.newAdmin().inviteUserByEmail('invited@example.test')
})
afterAll(() => service.close())

let visitors = 0
/** From an address of its own, so that no rate limit is shared. */
const send = async (at: string, body: object) => {
  const response = await service.post(at, body, {
    'x-forwarded-for': `203.0.113.${(visitors += 1)}`,
    'x-supabase-api-version': '2024-01-01',
  })
  return { status: response.status, headers: [...response.headers.keys()].toSorted(), body: await response.text() }
}

const UUID = /[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/g
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** The answer without the values that differ between any two people. */
const shapeOf = (answer: Awaited<ReturnType<typeof send>>, email: string) => ({
  ...answer,
  body: answer.body.replaceAll(email, '(email)').replaceAll(UUID, '(id)').replaceAll(TIME, '(time)'),
})
const idsIn = ({ body }: { body: string }) => body.match(UUID)
const EMAILS = ['taken@example.test', 'pending@example.test', 'invited@example.test', 'unknown@example.test']

test('a sign-up is answered alike for every address, once and again, and so is signing in with its password', async () => {
  const seen = []
  for (const email of EMAILS) {
    const first = await send('/signup', { email, password: TRIED, data: { name: 'Eve' } })
    const startedAt = Date.now()
    const second = await send('/signup', { email, password: TRIED, data: { name: 'Eve' } })
    expect(idsIn(second)).toEqual(idsIn(first))
    for (const [time] of second.body.matchAll(TIME)) expect(Date.parse(time)).toBeGreaterThanOrEqual(startedAt)
    const early = await send('/token?grant_type=password', { email, password: TRIED })
    const wrong = await send('/token?grant_type=password', { email, password: 'another password' })
    const resent = await send('/resend', { email, type: 'signup' })
    seen.push([first, second, early, wrong, resent].map((answer) => shapeOf(answer, email)))
  }
  expect(seen[0]?.map(({ status }) => status)).toEqual([200, 200, 400, 400, 200])
  expect(seen[0]?.[2]?.body).toContain('email_not_confirmed')
  for (const answers of seen) expect(answers).toEqual(seen[0])
  expect((await service.mails('taken@example.test'))[0]?.subject).toContain('already have')
  const owner = await service.newClient().auth.signInWithPassword({ email: 'taken@example.test', password: PASSWORD })
  expect(owner.error).toBeNull()
})

test('the made-up user of a taken address has no part of the real one', async () => {
  const email = 'owner@example.test'
  const { user } = await service.signedIn(email)
  const { data } = await service.newClient().auth.signUp({ email, password: TRIED })
  expect(idsIn({ body: JSON.stringify(data.user) })).not.toContain(user.id)
  expect(data.user?.identities).toHaveLength(1)
})

test('recoveries, magic links and codes are answered alike for every address', async () => {
  for (const [at, more] of [
    ['/recover', {}],
    ['/otp', { create_user: false }],
    ['/otp', {}],
    ['/magiclink', {}],
    ['/resend', { type: 'signup' }],
    ['/resend', { type: 'email_change' }],
    ['/verify', { type: 'email', token: 'abcdef' }],
    ['/verify', { type: 'recovery', token: 'abcdef' }],
  ] as const) {
    const seen = []
    for (const email of EMAILS) seen.push(shapeOf(await send(at, { email, ...more }), email))
    for (const answer of seen) expect(answer, at).toEqual(seen[0])
  }
})

test('limits count alike for every address', async () => {
  const limited = await startAuthService({ mailIntervalS: 60 })
  await limited.newAdmin().createUser({ email: 'taken@example.test', password: PASSWORD, email_confirm: true })
  for (const [at, more] of [
    ['/signup', { password: TRIED }],
    ['/recover', {}],
    ['/otp', { create_user: false }],
  ] as const) {
    const statuses = []
    for (const email of ['taken@example.test', 'free@example.test']) {
      const answers = [await limited.post(at, { email, ...more }), await limited.post(at, { email, ...more })]
      statuses.push(answers.map(({ status }) => status))
    }
    expect(statuses, at).toEqual([
      [200, 429],
      [200, 429],
    ])
  }
  expect(await limited.mails('taken@example.test')).toHaveLength(3)
  await limited.close()
})

test('where the operator wants it, a sign-up with a taken address shows no identity, as clients of Supabase expect', async () => {
  const revealing = await startAuthService({ signupRevealsAccounts: true })
  const email = 'taken@example.test'
  const { user } = await revealing.signedIn(email)
  const repeated = await revealing.newClient().auth.signUp({ email, password: TRIED })
  expect([repeated.error, repeated.data.user?.identities]).toEqual([null, []])
  expect(repeated.data.user?.id).not.toBe(user.id)
  const fresh = await revealing.newClient().auth.signUp({ email: 'free@example.test', password: TRIED })
  expect(fresh.data.user?.identities).toHaveLength(1)
  expect((await revealing.mails(email))[0]?.subject).toContain('already have')
  await revealing.close()
})

test('where the operator wants it, a sign-up still shows nothing of what the operator prepared', async () => {
  const revealing = await startAuthService({ signupRevealsAccounts: true })
  const email = 'invited@example.test'
  await revealing.newAdmin().inviteUserByEmail(email, { data: { team: 'blue' } })
  const { data } = await revealing.newClient().auth.signUp({ email, password: TRIED })
  expect(data.user?.identities).toHaveLength(1)
  expect(data.user).not.toHaveProperty('invited_at')
  expect(data.user?.user_metadata).not.toHaveProperty('team')
  await revealing.close()
})

const answeredId = async (email: string) => {
  const { data } = await service.newClient().auth.signUp({ email, password: TRIED })
  return data.user?.id
}
const signInCode = async (email: string, password: string) =>
  (await service.newClient().auth.signInWithPassword({ email, password })).error?.code
const claims = async (email: string) =>
  (await service.admin.query('select from auth.signup_claims where email = $1', [email])).rowCount

/** As if the last mail to the address had been sent so many days ago. */
async function age(email: string, days: number) {
  const { rows } = await service.admin.query<{ id: string }>('select id from auth.users where email = $1', [email])
  await service.admin.query(
    'update auth.signup_claims set expires_at = expires_at - make_interval(days => $2) where email = $1',
    [email, days],
  )
  await service.admin.query(
    `update auth.users set confirmation_sent_at = confirmation_sent_at - make_interval(days => $2),
       recovery_sent_at = recovery_sent_at - make_interval(days => $2) where id = $1`,
    [rows[0]?.id, days],
  )
  await service.admin.query(
    'update auth.one_time_tokens set expires_at = expires_at - make_interval(days => $2) where user_id = $1',
    [rows[0]?.id, days],
  )
  await sweepAuth(service.database, { sessionDays: 30, sessionIdleDays: 14 })
}

test('the id that a sign-up is answered with lasts equally long for each address', async () => {
  await service.signedIn('lasting-taken@example.test')
  for (const email of ['lasting-taken@example.test', 'lasting-free@example.test']) {
    const first = await answeredId(email)
    await age(email, 6)
    expect(await answeredId(email)).toBe(first)
    await age(email, 6)
    await service.newClient().auth.resetPasswordForEmail(email)
    await age(email, 6)
    expect([await answeredId(email), await signInCode(email, TRIED)]).toEqual([first, 'email_not_confirmed'])
    await age(email, 8)
    expect([await claims(email), await signInCode(email, TRIED)]).toEqual([0, 'invalid_credentials'])
    expect(await answeredId(email)).not.toBe(first)
  }
})

test('a stranger who tries the password of a sign-up does not learn when the owner confirms the address', async () => {
  const email = 'watched@example.test'
  const before = await answeredId(email)
  expect(await signInCode(email, TRIED)).toBe('email_not_confirmed')
  await service.newClient().auth.signInWithOtp({ email })
  const code = await service.codeFor(email)
  const entered = await service.newClient().auth.verifyOtp({ email, token: code, type: 'email' })
  expect(entered.error).toBeNull()
  expect([await signInCode(email, TRIED), await answeredId(email)]).toEqual(['email_not_confirmed', before])
})

test('a confirmed password is no claim any more, and a claim ends with the account', async () => {
  await service.signedIn('settled@example.test')
  expect(await claims('settled@example.test')).toBe(0)
  const { user } = await service.signedIn('leaving@example.test')
  await service.newClient().auth.signUp({ email: 'leaving@example.test', password: TRIED })
  expect(await claims('leaving@example.test')).toBe(1)
  await service.newAdmin().deleteUser(user.id)
  expect(await claims('leaving@example.test')).toBe(0)
})

test('at the update, passwords of pending sign-ups are not kept, and claims take the ids of their accounts', async () => {
  const email = 'pending-at-update@example.test'
  const { data } = await service.newClient().auth.signUp({ email, password: TRIED })
  await service.admin.query('alter table auth.signup_claims drop column answered_id')
  const migration = new URL('../database/migrations/platform/0032_sign_up_claims.sql', import.meta.url)
  await service.admin.query(await readFile(migration, 'utf8'))
  const { rows } = await service.admin.query(
    `select encrypted_password as hash, raw_app_meta_data ? 'needs_password' as is_asked, answered_id = u.id as is_same
     from auth.users u join auth.signup_claims c using (email) where email = $1`,
    [email],
  )
  expect(rows).toEqual([{ hash: null, is_asked: true, is_same: true }])
  expect(await answeredId(email)).toBe(data.user?.id)
  const owner = await service.newClient().auth.signInWithPassword({ email: 'taken@example.test', password: PASSWORD })
  expect(owner.error).toBeNull()
})
