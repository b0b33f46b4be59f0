import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

type Client = ReturnType<AuthTestService['newClient']>

async function ask(client: Client, method: 'GET' | 'POST', at = '', body?: unknown) {
  const { data } = await client.auth.getSession()
  const response = await fetch(`${service.url}/auth/v1/recovery-codes${at}`, {
    method,
    headers: { authorization: `Bearer ${data.session?.access_token ?? ''}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) }
}

const made = async (client: Client) => z.array(z.string()).parse((await ask(client, 'POST')).body['codes'])

async function withFactor(email: string) {
  const person = await service.signedIn(email)
  const { data, error } = await person.client.auth.mfa.enroll({ factorType: 'totp' })
  if (error) throw error
  const code = new TOTP({ secret: data.totp.secret }).generate()
  const verified = await person.client.auth.mfa.challengeAndVerify({ factorId: data.id, code })
  if (verified.error) throw verified.error
  return { ...person, factorId: data.id }
}

async function signIn(email: string) {
  const client = service.newClient()
  const { error } = await client.auth.signInWithPassword({ email, password: PASSWORD })
  if (error) throw error
  return client
}

const level = async (client: Client) => (await client.auth.mfa.getAuthenticatorAssuranceLevel()).data?.currentLevel

test('codes are made where a second factor has verified the session, and nowhere else', async () => {
  const { client } = await service.signedIn('plain@example.test')
  expect(await ask(client, 'POST')).toMatchObject({ status: 403, body: { error_code: 'insufficient_aal' } })
  const { client: guarded } = await withFactor('guarded@example.test')
  const codes = await made(guarded)
  expect(codes).toHaveLength(10)
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) expect(code).toMatch(/^[2-9a-z]{5}-[2-9a-z]{5}$/)
  const halfway = await signIn('guarded@example.test')
  expect(await ask(halfway, 'POST')).toMatchObject({ status: 403, body: { error_code: 'insufficient_aal' } })
})

test('a code raises the session once, however it is typed, and is counted', async () => {
  const email = 'lost@example.test'
  const { client } = await withFactor(email)
  const [code = ''] = await made(client)
  const returning = await signIn(email)
  const typed = ` ${code.replace('-', '').toUpperCase()} `
  const raised = await ask(returning, 'POST', '/verify', { code: typed })
  expect(raised.status).toBe(200)
  const tokens = z.object({ access_token: z.string(), refresh_token: z.string() }).parse(raised.body)
  await returning.auth.setSession(tokens)
  expect(await level(returning)).toBe('aal2')
  expect(await ask(returning, 'GET')).toMatchObject({ body: { total: 10, remaining: 9 } })
  const again = await signIn(email)
  expect(await ask(again, 'POST', '/verify', { code })).toMatchObject({
    status: 422,
    body: { error_code: 'mfa_verification_failed' },
  })
  expect(await level(again)).toBe('aal1')
})

test('a code is worth nothing to a second user, and only a keyed hash of it is stored', async () => {
  const { client, user } = await withFactor('owner@example.test')
  const codes = await made(client)
  const { client: stranger } = await withFactor('stranger@example.test')
  await made(stranger)
  const strange = await signIn('stranger@example.test')
  expect((await ask(strange, 'POST', '/verify', { code: codes[0] })).status).toBe(422)
  expect((await ask(client, 'GET')).body).toMatchObject({ remaining: 10 })
  const stored = await service.admin.query<{ row: string }>(
    'select c::text as row from auth.recovery_codes c where user_id = $1',
    [user.id],
  )
  expect(stored.rows).toHaveLength(10)
  const plain = codes.map((code) => code.replace('-', ''))
  for (const { row } of stored.rows) expect(plain.some((code) => row.includes(code))).toBe(false)
})

test('a new set replaces the old one, and both go with the last factor', async () => {
  const email = 'renewing@example.test'
  const { client, factorId } = await withFactor(email)
  const [old = ''] = await made(client)
  const [fresh = ''] = await made(client)
  const returning = await signIn(email)
  expect((await ask(returning, 'POST', '/verify', { code: old })).status).toBe(422)
  expect((await ask(returning, 'POST', '/verify', { code: fresh })).status).toBe(200)
  // The session that enrolled the factor continues: both are at aal2.
  const { error } = await client.auth.mfa.unenroll({ factorId })
  expect(error).toBeNull()
  expect((await ask(client, 'GET')).body).toMatchObject({ total: 0, remaining: 0 })
})

test('guessing ends after ten wrong codes, from wherever they come', async () => {
  const email = 'guessed@example.test'
  const { client, factorId } = await withFactor(email)
  await made(client)
  const statuses: number[] = []
  for (let attempt = 0; attempt < 11; attempt += 1) {
    const guesser = await signIn(email)
    statuses.push((await ask(guesser, 'POST', '/verify', { code: `aaaaa-aaaa${attempt}` })).status)
  }
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(422))
  expect(statuses[10]).toBe(429)
  // One limit for all that a person's second factor can be guessed by.
  const atTheApp = await (await signIn(email)).auth.mfa.challengeAndVerify({ factorId, code: '000000' })
  expect(atTheApp.error).toMatchObject({ status: 429, code: 'over_request_rate_limit' })
})
