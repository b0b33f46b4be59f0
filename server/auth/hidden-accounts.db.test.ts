/** Whether an address has an account cannot be learned from the service, unless the operator chose so. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'

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

test('what a stranger signed up with ends with the account, and after thirty days', async () => {
  const { sweepAuth } = await import('./sweep.ts')
  const claims = async (email: string) =>
    (await service.admin.query('select from auth.signup_claims where email = $1', [email])).rowCount
  const passwordOf = async (email: string) =>
    (
      await service.admin.query<{ hash: string | null }>(
        'select encrypted_password as hash from auth.users where email = $1',
        [email],
      )
    ).rows[0]?.hash
  const { user } = await service.signedIn('leaving@example.test')
  await service.newClient().auth.signUp({ email: 'leaving@example.test', password: TRIED })
  expect(await claims('leaving@example.test')).toBe(1)
  await service.newAdmin().deleteUser(user.id)
  expect(await claims('leaving@example.test')).toBe(0)

  for (const email of ['old@example.test', 'young@example.test']) {
    await service.newClient().auth.signUp({ email, password: PASSWORD })
  }
  await service.admin.query(`update auth.signup_claims set expires_at = now() - interval '1 s' where email = $1`, [
    'old@example.test',
  ])
  await service.admin.query(`update auth.users set created_at = now() - interval '31 days' where email = $1`, [
    'old@example.test',
  ])
  await service.admin.query(`update auth.one_time_tokens set expires_at = now() where relates_to = $1`, [
    'old@example.test',
  ])
  await sweepAuth(service.database, { sessionDays: 30, sessionIdleDays: 14 })
  expect([await claims('old@example.test'), await claims('young@example.test')]).toEqual([0, 1])
  expect([await passwordOf('old@example.test'), typeof (await passwordOf('young@example.test'))]).toEqual([
    null,
    'string',
  ])
})
