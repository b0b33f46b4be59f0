import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { pressButton } from '#test/press-button.ts'
import { sweepBuckets } from './sweep.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService({ mailIntervalS: 60 })
})
afterAll(() => service.close())

const from = (address: string) => ({ 'x-forwarded-for': address })
const signIn = (email: string, password: string, address: string) =>
  service.post('/token?grant_type=password', { email, password }, from(address))

test('an address is refused after 30 requests at an endpoint, with the time to wait, and another is not', async () => {
  const ask = (n: number, address: string) => service.post('/recover', { email: `p${n}@example.test` }, from(address))
  for (let n = 0; n < 30; n += 1) expect((await ask(n, '192.0.2.1')).status).toBe(200)
  const refused = await ask(30, '192.0.2.1')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(refused.headers.get('access-control-expose-headers')).toContain('Retry-After')
  expect(await refused.json()).toEqual({
    code: 429,
    error_code: 'over_request_rate_limit',
    msg: 'Request rate limit reached',
  })
  expect((await ask(31, '192.0.2.2')).status).toBe(200)
})

test('beyond the limit of its address a visitor adds no rows for made-up accounts, and full rows go', async () => {
  const ask = (n: number) => service.post('/recover', { email: `made-up-${n}@example.test` }, from('192.0.2.5'))
  const rows = async () => (await service.admin.query('select from auth.rate_limits')).rowCount ?? 0
  const before = await rows()
  for (let n = 0; n < 30; n += 1) expect((await ask(n)).status).toBe(200)
  const most = await rows()
  expect(most - before).toBeLessThanOrEqual(2 * 30 + 1)
  for (let n = 30; n < 60; n += 1) expect((await ask(n)).status).toBe(429)
  expect(await rows()).toBe(most)
  await service.admin.query(`update auth.rate_limits set updated_at = now() - interval '1 day'`)
  await sweepBuckets(service.database)
  expect(await rows()).toBe(0)
})

test('the many networks of one IPv6 customer share a limit, which one of them alone does not use up', async () => {
  const ask = async (address: string, times: number) => {
    const asked = Array.from({ length: times }, (_, n) =>
      service.post('/recover', { email: `n${n}@${address.replaceAll(':', '-')}.example.test` }, from(address)),
    )
    return (await Promise.all(asked)).filter(({ status }) => status === 200).length
  }
  expect(await ask('2001:db8:7:1::1', 60)).toBe(30)
  for (let network = 2; network <= 8; network += 1) expect(await ask(`2001:db8:7:${network}::1`, 30)).toBe(30)
  // The limit of all refills by less than one a second.
  expect(await ask('2001:db8:7:99::1', 30)).toBeLessThan(30)
  expect(await ask('2001:db8:8:1::1', 30)).toBe(30)
})

test('an address that a visitor claims left of the trusted proxy changes nothing', async () => {
  const ask = (claimed: string) =>
    service.post('/resend', { type: 'signup', email: `${claimed}@example.test` }, from(`${claimed}, 192.0.2.3`))
  for (let n = 0; n < 30; n += 1) await ask(`10.0.0.${n}`)
  expect((await ask('10.0.0.99')).status).toBe(429)
})

test('ten wrong passwords close an account to new addresses, and to nobody who used it before', async () => {
  const email = 'guessed@example.test'
  const home = '192.0.2.10'
  await service.newClient(home).auth.signUp({ email, password: PASSWORD })
  await pressButton(await service.linkFor(email), from(home))
  for (let n = 0; n < 10; n += 1) expect((await signIn(email, 'a guess', `192.0.2.${20 + n}`)).status).toBe(400)
  const refused = await signIn(email, 'a guess', '192.0.2.40')
  expect(refused.status).toBe(429)
  expect((await signIn(email, PASSWORD, '192.0.2.41')).status).toBe(429)
  expect((await signIn(email, PASSWORD, home)).status).toBe(200)
})

test('an unknown account is closed in the same way, so that the limit tells nobody which exist', async () => {
  const statuses: number[] = []
  for (let n = 0; n < 11; n += 1) {
    statuses.push((await signIn('nobody@example.test', 'a guess', `192.0.2.${60 + n}`)).status)
  }
  expect(statuses).toEqual([...Array<number>(10).fill(400), 429])
})

test('ten wrong codes in an hour close an account to codes, over all that it is sent and from everywhere', async () => {
  const email = 'coded@example.test'
  await service.newClient('192.0.2.90').auth.signUp({ email, password: PASSWORD })
  const code = await service.codeFor(email)
  const wrong = code === '000000' ? '000001' : '000000'
  const verify = (token: string, n: number, address = email) =>
    service.post('/verify', { email: address, token, type: 'email' }, from(`192.0.2.${100 + n}`))
  for (let n = 0; n < 5; n += 1) expect((await verify(wrong, n)).status).toBe(403)
  // The five attempts at this code are used up; another code brings five more, and no longer limit.
  await service.newClient('192.0.2.91').auth.signInWithOtp({ email })
  const next = await service.codeFor(email)
  for (let n = 5; n < 10; n += 1) expect((await verify(next === '000000' ? '000001' : '000000', n)).status).toBe(403)
  await service.admin.query(`update auth.one_time_tokens set attempts = 0 where relates_to = $1`, [email])
  const refused = await verify(next, 11)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(300)
  expect((await verify(next, 12, 'nobody-coded@example.test')).status).toBe(403)
})

test('right passwords do not count', async () => {
  const email = 'busy@example.test'
  const address = '192.0.2.80'
  await service.newClient(address).auth.signUp({ email, password: PASSWORD })
  await pressButton(await service.linkFor(email), from(address))
  for (let n = 0; n < 12; n += 1) expect((await signIn(email, PASSWORD, address)).status).toBe(200)
})

test('a second mail of a kind within the interval is refused, for known and unknown addresses alike', async () => {
  await service.newClient().auth.signUp({ email: 'mailed@example.test', password: PASSWORD })
  for (const email of ['mailed@example.test', 'never-mailed@example.test']) {
    const client = service.newClient()
    expect((await client.auth.resetPasswordForEmail(email)).error).toBeNull()
    const second = await client.auth.resetPasswordForEmail(email)
    expect(second.error).toMatchObject({
      status: 429,
      code: 'over_email_send_rate_limit',
      message: expect.stringMatching(
        /^For security purposes, you can only request this after \d+ seconds\.$/,
      ) as string,
    })
  }
  expect((await service.mails('mailed@example.test')).length).toBe(2)
})

test('with the limits off nothing is refused', async () => {
  const unlimited = await startAuthService({ rateLimits: 'off', mailIntervalS: 60 })
  for (let n = 0; n < 35; n += 1) {
    expect((await unlimited.post('/recover', { email: 'same@example.test' })).status).toBe(200)
  }
  await unlimited.close()
})
