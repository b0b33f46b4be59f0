import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { SupabaseClient } from '@supabase/supabase-js'
import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { type AuthTestService, startAuthService } from '#test/auth-service.ts'

const KEY = Buffer.from('a key that both sides know of it')
const message = z.object({ user: z.object({ id: z.uuid(), phone: z.string() }), sms: z.object({ otp: z.string() }) })

let service: AuthTestService
let receiver: ReturnType<typeof serve>
const received: { body: string; headers: Headers }[] = []
let status: 200 | 500 = 200
beforeAll(async () => {
  const app = new Hono().post('/sms', async (context) => {
    received.push({ body: await context.req.text(), headers: context.req.raw.headers })
    return context.json({}, status)
  })
  receiver = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => receiver.once('listening', resolve))
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/sms`
  service = await startAuthService({ smsWebhook: { address, secret: `v1,whsec_${KEY.toString('base64')}` } })
})
afterAll(async () => {
  await service.close()
  receiver.close()
})
beforeEach(() => {
  received.length = 0
  status = 200
})

const lastMessage = () => message.parse(JSON.parse(received.at(-1)?.body ?? ''))

async function enrol(client: SupabaseClient, phone: string) {
  const { data, error } = await client.auth.mfa.enroll({ factorType: 'phone', phone, friendlyName: phone })
  if (error) throw error
  return data
}

async function challenge(client: SupabaseClient, factorId: string) {
  const { data, error } = await client.auth.mfa.challenge({ factorId, channel: 'sms' })
  if (error) throw error
  return { challengeId: data.id, code: lastMessage().sms.otp }
}

/** Lets time pass for the limits on messages. */
const forgetMessages = () => service.admin.query(`delete from auth.rate_limits where key like 'sms%'`)

test('a phone is enrolled, proves itself by a signed message, raises the session, and is given up', async () => {
  const { client, user } = await service.signedIn('phone@example.test')
  const factor = await enrol(client, '+49 171 1234567')
  expect(factor).toMatchObject({ type: 'phone', phone: '491711234567' })
  const { challengeId, code } = await challenge(client, factor.id)
  expect(lastMessage()).toMatchObject({ user: { id: user.id, phone: '491711234567' } })
  const { headers, body } = received[0] ?? { headers: new Headers(), body: '' }
  const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`
  expect(headers.get('webhook-signature')).toBe(`v1,${createHmac('sha256', KEY).update(signed).digest('base64')}`)

  const { data, error } = await client.auth.mfa.verify({ factorId: factor.id, challengeId, code })
  expect(error).toBeNull()
  const claims: unknown = JSON.parse(atob(data?.access_token.split('.')[1] ?? ''))
  expect(claims).toMatchObject({ aal: 'aal2', amr: [{ method: 'mfa/phone' }, { method: 'password' }] })
  const listed = await client.auth.mfa.listFactors()
  expect(listed.data?.phone).toMatchObject([{ id: factor.id, status: 'verified' }])

  expect((await client.auth.mfa.unenroll({ factorId: factor.id })).error).toBeNull()
  await client.auth.refreshSession()
  const { data: levels } = await client.auth.mfa.getAuthenticatorAssuranceLevel()
  expect(levels).toMatchObject({ currentLevel: 'aal1', currentAuthenticationMethods: [{ method: 'password' }] })
})

test('a code is stored under a key, counts once, and for its own challenge alone', async () => {
  const { client } = await service.signedIn('once@example.test')
  const { id: factorId } = await enrol(client, '+15550100001')
  const first = await challenge(client, factorId)
  await forgetMessages()
  const second = await challenge(client, factorId)
  const { rows } = await service.admin.query<{ otp_code: string }>('select otp_code from auth.mfa_challenges')
  for (const { otp_code: stored } of rows) expect(stored).toMatch(/^[0-9a-f]{64}$/)
  const crossed = await client.auth.mfa.verify({ factorId, challengeId: first.challengeId, code: second.code })
  expect(crossed.error === null).toBe(first.code === second.code)
  expect((await client.auth.mfa.verify({ factorId, ...second })).error).toBeNull()
  expect((await client.auth.mfa.verify({ factorId, ...second })).error?.code).toBe('mfa_ip_address_mismatch')
})

test('guesses run out, over all challenges of a person', async () => {
  const { client } = await service.signedIn('guessed@example.test')
  const { id: factorId } = await enrol(client, '+15550100002')
  const { challengeId, code } = await challenge(client, factorId)
  const wrong = code === '000000' ? '000001' : '000000'
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const { error } = await client.auth.mfa.verify({ factorId, challengeId, code: wrong })
    expect(error?.code).toBe('mfa_verification_failed')
  }
  const { error } = await client.auth.mfa.verify({ factorId, challengeId, code })
  expect(error?.code).toBe('over_request_rate_limit')
})

test('messages to one number are apart by a minute, whoever asks', async () => {
  const one = await service.signedIn('first-caller@example.test')
  const other = await service.signedIn('second-caller@example.test')
  await challenge(one.client, (await enrol(one.client, '+15550100003')).id)
  const factorId = (await enrol(other.client, '+15550100003')).id
  const { error } = await other.client.auth.mfa.challenge({ factorId, channel: 'sms' })
  expect(error).toMatchObject({ code: 'over_sms_send_rate_limit', status: 429 })
  expect(received).toHaveLength(1)
})

test("nobody is sent, or verifies, another person's factor", async () => {
  const owner = await service.signedIn('phone-owner@example.test')
  const stranger = await service.signedIn('phone-stranger@example.test')
  const { id: factorId } = await enrol(owner.client, '+15550100004')
  const { challengeId, code } = await challenge(owner.client, factorId)
  const { auth } = stranger.client
  expect((await auth.mfa.challenge({ factorId, channel: 'sms' })).error?.code).toBe('mfa_factor_not_found')
  expect((await auth.mfa.verify({ factorId, challengeId, code })).error?.code).toBe('mfa_factor_not_found')
  expect((await auth.mfa.unenroll({ factorId })).error?.code).toBe('mfa_factor_not_found')
})

test('what cannot be sent is said, and what is no number or channel is refused', async () => {
  const { client } = await service.signedIn('unlucky@example.test')
  const { id: factorId } = await enrol(client, '+15550100005')
  status = 500
  expect((await client.auth.mfa.challenge({ factorId, channel: 'sms' })).error?.code).toBe('sms_send_failed')
  const { error } = await client.auth.mfa.challenge({ factorId, channel: 'whatsapp' })
  expect(error?.code).toBe('validation_failed')
  for (const phone of ['', '0171', 'not a number']) {
    expect((await client.auth.mfa.enroll({ factorType: 'phone', phone })).error?.code).toBe('validation_failed')
  }
})

test('without a webhook phones are not offered', async () => {
  const without = await startAuthService()
  const { client } = await without.signedIn('no-sms@example.test')
  const { error } = await client.auth.mfa.enroll({ factorType: 'phone', phone: '+15550100006' })
  expect(error).toMatchObject({ code: 'mfa_phone_enroll_not_enabled', status: 422 })
  await without.close()
})
