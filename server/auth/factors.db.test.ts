import { randomUUID } from 'node:crypto'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

type Client = AuthTestService extends { newClient(): infer C } ? C : never

/** Codes of the periods around the moment of this call: `at(-1)` is the one before it. */
function codesOf(secret: string) {
  const now = Date.now()
  return (steps: number) => new TOTP({ secret }).generate({ timestamp: now + steps * 30_000 })
}
const wrongCode = (secret: string) => {
  const valid = [-2, -1, 0, 1, 2, 3].map(codesOf(secret))
  return ['000000', '000001', '000002', '000003', '000004', '000005'].find((code) => !valid.includes(code)) ?? ''
}

async function enrol(client: Client, friendlyName = 'phone') {
  const { data, error } = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName })
  if (error) throw error
  return { id: data.id, data, at: codesOf(data.totp.secret), wrong: wrongCode(data.totp.secret) }
}

async function verify(client: Client, factorId: string, code: string) {
  const challenge = await client.auth.mfa.challenge({ factorId })
  if (challenge.error) throw challenge.error
  return client.auth.mfa.verify({ factorId, challengeId: challenge.data.id, code })
}

/** A person with a verified factor, of which no code was used yet, and whose client is at aal2. */
async function withFactor(email: string) {
  const person = await service.signedIn(email)
  const factor = await enrol(person.client)
  const { error } = await verify(person.client, factor.id, factor.at(0))
  if (error) throw error
  await service.admin.query('update auth.mfa_factors set last_used_step = 0 where id = $1', [factor.id])
  return { ...person, factor }
}

async function signIn(email: string) {
  const client = service.newClient()
  const { data, error } = await client.auth.signInWithPassword({ email, password: PASSWORD })
  if (error) throw error
  return { client, session: data.session }
}

const levels = async (client: Client) => {
  const { data } = await client.auth.mfa.getAuthenticatorAssuranceLevel()
  return [data?.currentLevel, data?.nextLevel]
}

test('a factor is enrolled, verified, and raises the session to aal2, also over a refresh', async () => {
  const { client, session } = await service.signedIn('enrolling@example.test')
  const { id, data, at } = await enrol(client, 'my phone')
  expect(data).toMatchObject({ type: 'totp', friendly_name: 'my phone' })
  expect(data.totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg [^#]*<\/svg>$/s)
  expect((await client.auth.mfa.listFactors()).data).toMatchObject({ all: [{ id, status: 'unverified' }], totp: [] })
  expect(await levels(client)).toEqual(['aal1', 'aal1'])

  const challenge = await client.auth.mfa.challenge({ factorId: id })
  expect((challenge.data?.expires_at ?? 0) - Date.now() / 1000).toBeCloseTo(300, -1)
  const verified = await client.auth.mfa.verify({ factorId: id, challengeId: challenge.data?.id ?? '', code: at(0) })
  expect(verified.error).toBeNull()
  expect(await levels(client)).toEqual(['aal2', 'aal2'])
  const claims = await service.tokens.verify(verified.data?.access_token ?? '')
  const before = await service.tokens.verify(session.access_token)
  expect(claims).toMatchObject({
    aal: 'aal2',
    session_id: before.session_id,
    amr: [{ method: 'totp' }, { method: 'password' }],
  })
  expect((await client.auth.refreshSession()).error).toBeNull()
  expect(await levels(client)).toEqual(['aal2', 'aal2'])
  expect((await client.auth.mfa.listFactors()).data?.totp).toMatchObject([{ id, status: 'verified' }])
})

test('the secret is stored encrypted and shown once', async () => {
  const { client } = await service.signedIn('secret@example.test')
  const { id, data } = await enrol(client)
  const stored = await service.admin.query<{ row: string }>(
    'select row_to_json(f)::text as row from auth.mfa_factors f where id = $1',
    [id],
  )
  expect(stored.rows[0]?.row).not.toContain(data.totp.secret)
  expect(JSON.stringify((await client.auth.getUser()).data.user)).not.toMatch(/secret"/)
})

test('what was obtained before the second factor is worth nothing after it', async () => {
  const email = 'raised@example.test'
  const { client, session } = await service.signedIn(email)
  const elsewhere = await signIn(email)
  const factor = await enrol(client)
  expect((await verify(client, factor.id, factor.at(0))).error).toBeNull()

  const old = await service.newClient().auth.refreshSession({ refresh_token: session.refresh_token })
  expect(old.error?.code).toBe('refresh_token_not_found')
  expect((await elsewhere.client.auth.getUser()).error?.name).toBe('AuthSessionMissingError')
  expect((await elsewhere.client.auth.refreshSession()).error).not.toBeNull()
  expect((await client.auth.refreshSession()).error).toBeNull()

  const withOldToken = await fetch(`${service.url}/auth/v1/user`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${session.access_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ password: 'set with a stolen token' }),
  })
  expect([withOldToken.status, await withOldToken.json()]).toMatchObject([401, { error_code: 'insufficient_aal' }])
})

test('a session without the second factor may change no password, enrol no factor and give none up', async () => {
  const email = 'half@example.test'
  const { factor } = await withFactor(email)
  const { client } = await signIn(email)
  expect(await levels(client)).toEqual(['aal1', 'aal2'])
  const refused = await client.auth.updateUser({ password: 'a new quiet corner' })
  expect(refused.error).toMatchObject({ status: 401, code: 'insufficient_aal' })
  expect((await client.auth.updateUser({ email: 'else@example.test' })).error?.code).toBe('insufficient_aal')
  expect((await client.auth.updateUser({ data: { name: 'Ada' } })).error).toBeNull()
  const second = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'of a thief' })
  expect(second.error).toMatchObject({ status: 403, code: 'insufficient_aal' })
  const unenrolled = await client.auth.mfa.unenroll({ factorId: factor.id })
  expect(unenrolled.error).toMatchObject({ status: 422, code: 'insufficient_aal' })

  expect((await verify(client, factor.id, factor.at(0))).error).toBeNull()
  expect((await client.auth.updateUser({ password: 'a new quiet corner' })).error).toBeNull()
})

test.for(['magiclink', 'recovery'] as const)(
  'a %s opens the first level alone, and leaves the factor in place',
  async (by) => {
    const email = `by-${by}@example.test`
    const { factor } = await withFactor(email)
    const client = service.newClient()
    if (by === 'recovery') await client.auth.resetPasswordForEmail(email)
    else await client.auth.signInWithOtp({ email })
    const { error } = await client.auth.verifyOtp({ email, token: await service.codeFor(email), type: by })
    expect(error).toBeNull()
    expect(await levels(client)).toEqual(['aal1', 'aal2'])
    expect((await client.auth.mfa.listFactors()).data?.totp).toMatchObject([{ id: factor.id, status: 'verified' }])
    const refused = await client.auth.updateUser({ password: 'a new quiet corner' })
    expect(refused.error?.code).toBe('insufficient_aal')
    expect((await client.auth.mfa.unenroll({ factorId: factor.id })).error?.code).toBe('insufficient_aal')
    expect((await verify(client, factor.id, factor.at(0))).error).toBeNull()
    expect((await client.auth.updateUser({ password: 'a new quiet corner' })).error).toBeNull()
  },
)

test('a factor that was begun before another was verified cannot be verified without it', async () => {
  const email = 'begun@example.test'
  const { client } = await service.signedIn(email)
  const [stored, dropped] = [await enrol(client, 'kept'), await enrol(client, 'dropped')]
  expect((await verify(client, stored.id, stored.at(0))).error).toBeNull()
  const gone = await client.auth.mfa.challenge({ factorId: dropped.id })
  expect(gone.error).toMatchObject({ status: 404, code: 'mfa_factor_not_found' })

  const added = await enrol(client, 'added at aal2')
  const { client: half } = await signIn(email)
  expect((await verify(half, added.id, added.at(0))).error?.code).toBe('insufficient_aal')
  expect((await verify(client, added.id, added.at(0))).error).toBeNull()
})

test('a code counts once, a challenge too, and neither in parallel', async () => {
  const email = `${randomUUID()}@example.test`
  const { factor } = await withFactor(email)
  const racers = await Promise.all(Array.from({ length: 4 }, () => signIn(email)))
  // Before any of them answers: who is right ends the sessions of the others.
  const asked = await Promise.all(racers.map(({ client }) => client.auth.mfa.challenge({ factorId: factor.id })))
  const results = await Promise.all(
    racers.map(({ client }, index) =>
      client.auth.mfa.verify({
        factorId: factor.id,
        challengeId: asked[index]?.data?.id ?? '',
        code: factor.at(0),
      }),
    ),
  )
  expect(asked.map(({ error }) => error)).toEqual([null, null, null, null])
  expect(results.filter(({ error }) => error === null)).toHaveLength(1)

  const { client } = await signIn(email)
  const replayed = await verify(client, factor.id, factor.at(0))
  expect(replayed.error).toMatchObject({
    status: 422,
    code: 'mfa_verification_failed',
    message: 'Invalid TOTP code entered',
  })
  const older = await verify(client, factor.id, factor.at(-1))
  expect(older.error?.code).toBe('mfa_verification_failed')

  const challengeId = (await client.auth.mfa.challenge({ factorId: factor.id })).data?.id ?? ''
  const parameters = { factorId: factor.id, challengeId }
  expect((await client.auth.mfa.verify({ ...parameters, code: factor.wrong })).error?.code).toBe(
    'mfa_verification_failed',
  )
  expect((await client.auth.mfa.verify({ ...parameters, code: factor.at(1) })).error).toBeNull()
  const again = await client.auth.mfa.verify({ ...parameters, code: factor.at(1) })
  expect(again.error).toMatchObject({ status: 422, code: 'mfa_ip_address_mismatch' })
})

test('a challenge is answered from the address that asked for it, within five minutes, for its own factor', async () => {
  const email = 'challenge@example.test'
  const { client, factor } = await withFactor(email)
  const other = await enrol(client, 'other')
  const { data } = await client.auth.mfa.challenge({ factorId: factor.id })
  const challengeId = data?.id ?? ''
  const token = (await client.auth.getSession()).data.session?.access_token ?? ''
  const verifyAt = async (factorId: string, id: string, address: string) => {
    const answer = await service.post(
      `/factors/${factorId}/verify`,
      { challenge_id: id, code: factor.at(0) },
      { authorization: `Bearer ${token}`, 'x-forwarded-for': address },
    )
    return [answer.status, ((await answer.json()) as { error_code: string }).error_code]
  }
  expect(await verifyAt(factor.id, challengeId, '203.0.113.9')).toEqual([422, 'mfa_ip_address_mismatch'])
  expect(await verifyAt(other.id, challengeId, '203.0.113.9')).toEqual([404, 'mfa_factor_not_found'])
  expect(await verifyAt(factor.id, randomUUID(), '203.0.113.9')).toEqual([404, 'mfa_factor_not_found'])
  expect(await verifyAt(factor.id, 'no uuid', '203.0.113.9')).toEqual([404, 'mfa_factor_not_found'])
  await service.admin.query(`update auth.mfa_challenges set created_at = now() - interval '301 seconds'`)
  const late = await client.auth.mfa.verify({ factorId: factor.id, challengeId, code: factor.at(0) })
  expect(late.error).toMatchObject({ status: 422, code: 'mfa_challenge_expired' })
})

test('after ten wrong codes no more are looked at, wherever they come from', async () => {
  const email = 'guessed@example.test'
  const { factor } = await withFactor(email)
  for (let n = 0; n < 10; n += 1) {
    const { client } = await signIn(email)
    expect((await verify(client, factor.id, factor.wrong)).error?.status).toBe(422)
  }
  const { client } = await signIn(email)
  expect((await verify(client, factor.id, factor.at(0))).error).toMatchObject({
    status: 429,
    code: 'over_request_rate_limit',
  })
})

test('giving a factor up lowers the sessions that it raised', async () => {
  const email = 'leaving@example.test'
  const { client, factor } = await withFactor(email)
  const { data, error } = await client.auth.mfa.unenroll({ factorId: factor.id })
  expect([data, error]).toEqual([{ id: factor.id }, null])
  await client.auth.refreshSession()
  expect(await levels(client)).toEqual(['aal1', 'aal1'])
  const token = (await client.auth.getSession()).data.session?.access_token ?? ''
  expect((await service.tokens.verify(token))['amr']).toMatchObject([{ method: 'password' }])
  expect((await client.auth.updateUser({ password: 'a new quiet corner' })).error).toBeNull()
})

test('nobody can challenge, verify or delete the factor of somebody else', async () => {
  const { factor } = await withFactor('owner@example.test')
  const { client: stranger } = await withFactor('stranger@example.test')
  const answers = [
    await stranger.auth.mfa.challenge({ factorId: factor.id }),
    await stranger.auth.mfa.verify({ factorId: factor.id, challengeId: randomUUID(), code: factor.at(0) }),
    await stranger.auth.mfa.unenroll({ factorId: factor.id }),
    await stranger.auth.mfa.unenroll({ factorId: randomUUID() }),
  ]
  for (const { error } of answers) {
    expect(error).toMatchObject({ status: 404, code: 'mfa_factor_not_found', message: 'Factor not found' })
  }
  expect((await service.admin.query('select from auth.mfa_factors where id = $1', [factor.id])).rowCount).toBe(1)
})

test('what cannot be enrolled is refused in the words of the protocol', async () => {
  const { client } = await service.signedIn('refused@example.test')
  await enrol(client, 'taken')
  const conflict = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'taken' })
  expect(conflict.error).toMatchObject({ status: 422, code: 'mfa_factor_name_conflict' })
  const phone = await client.auth.mfa.enroll({ factorType: 'phone', phone: '+123456789' })
  expect(phone.error).toMatchObject({ status: 422, code: 'mfa_phone_enroll_not_enabled' })
  const webauthn = await client.auth.mfa.enroll({ factorType: 'webauthn', friendlyName: 'key' })
  expect(webauthn.error).toMatchObject({ status: 422, code: 'mfa_webauthn_enroll_not_enabled' })
  const long = await client.auth.mfa.enroll({ factorType: 'totp', issuer: 'x'.repeat(5000) })
  expect(long.error).toMatchObject({ status: 400, code: 'validation_failed' })
  for (let n = 1; n < 10; n += 1) await enrol(client, `number ${n}`)
  const eleventh = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'one too many' })
  expect(eleventh.error).toMatchObject({ status: 422, code: 'too_many_enrolled_mfa_factors' })
  await service.admin.query(`update auth.mfa_factors set created_at = now() - interval '301 seconds'`)
  expect((await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'taken' })).error).toBeNull()
})
