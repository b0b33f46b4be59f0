import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createAuthFetch } from './auth-fetch.ts'

const REFRESH = 'https://server/auth/v1/token?grant_type=refresh_token'
const withToken = (token: string): RequestInit => ({ method: 'POST', body: JSON.stringify({ refresh_token: token }) })

/** Answers of the server in turn. */
let answers: Response[]
let sent: (string | null)[]
let replacement: string | null

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('navigator', {})
  answers = []
  sent = []
  replacement = null
  vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
    sent.push(new Headers(init.headers).get('authorization'))
    return Promise.resolve(answers.shift() ?? Response.json({ access_token: 'new', expires_in: 3600, expires_at: 1 }))
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const send = createAuthFetch({
  replacementOf: () => replacement,
  renew: (rejected) => Promise.resolve(rejected === 'expired' ? 'renewed' : null),
})
const tooMany = (headers: Record<string, string> = {}) => new Response('{}', { status: 429, headers })
const rejection = () => Response.json({ code: 403, error_code: 'bad_jwt' }, { status: 403 })

test('a refresh that is limited waits as long as the server says, else longer each time', async () => {
  answers = [tooMany({ 'retry-after': '7' }), tooMany(), tooMany({ 'retry-after': 'later' })]
  const refreshing = send(REFRESH, withToken('old'))
  await vi.advanceTimersByTimeAsync(6_999)
  expect(sent).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(sent).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(3_999)
  expect(sent).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(1)
  expect(sent).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(8_000)
  // By the clock of the browser, with which the auth client compares it.
  const expiresAt = Math.floor(Date.now() / 1000) + 3600
  expect(await (await refreshing).json()).toEqual({ access_token: 'new', expires_in: 3600, expires_at: expiresAt })
})

test('tokens that another tab has renewed are not renewed again, also while this one waits', async () => {
  answers = [tooMany()]
  const refreshing = send(REFRESH, withToken('old'))
  await vi.advanceTimersByTimeAsync(1_000)
  replacement = '{"access_token":"of the other tab"}'
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await (await refreshing).json()).toEqual({ access_token: 'of the other tab' })
  expect(sent).toHaveLength(1)
})

test('other requests are not repeated where they are limited: the person is told', async () => {
  answers = [tooMany()]
  expect((await send('https://server/auth/v1/token?grant_type=password', withToken(''))).status).toBe(429)
})

test('a request with an expired token is sent once more with a new one', async () => {
  answers = [rejection(), Response.json({ id: 'user' })]
  const headers = { Authorization: 'Bearer expired' }
  expect((await send('https://server/auth/v1/user', { headers })).status).toBe(200)
  expect(sent).toEqual(['Bearer expired', 'Bearer renewed'])
})

test('other refusals, and tokens that are not renewed, are answered as they are', async () => {
  answers = [rejection(), Response.json({ error_code: 'insufficient_aal' }, { status: 403 })]
  const headers = { Authorization: 'Bearer wrong' }
  const answer = await send('https://server/auth/v1/user', { headers })
  expect(await answer.json()).toMatchObject({ error_code: 'bad_jwt' })
  expect((await send('https://server/auth/v1/user', { headers: { Authorization: 'Bearer expired' } })).status).toBe(403)
  expect(sent).toHaveLength(2)
})
