import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { createTestTokens } from '#test/realtime.ts'
import { requirePerson, sessionCookieOf, type SignedIn } from './authenticate.ts'

const ADDRESS = 'https://alcove.example'

async function open() {
  const tokens = await createTestTokens()
  const token = await tokens.sign({
    role: 'authenticated',
    sub: '00000000-0000-4000-8000-000000000001',
    exp: Math.floor(Date.now() / 1000) + 60,
  })
  const app = new Hono<SignedIn>()
  app.onError((_error, context) => context.text('refused', 403))
  app.use(requirePerson(tokens, ADDRESS))
  app.all('/', (context) => context.text('done'))
  const ask = async (method: string, headers: Record<string, string>) =>
    (await app.request('/', { method, headers })).status
  return { token, ask }
}

test('a cookie changes something only in requests of scripts of our own pages', async () => {
  const { token, ask } = await open()
  const cookie = `${sessionCookieOf(ADDRESS)}=${token}`
  const ours = { origin: ADDRESS, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }
  const others = [
    { origin: 'null' },
    { origin: 'https://elsewhere.example' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-mode': 'navigate' },
  ]
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    expect(await ask(method, { cookie, ...ours })).toBe(200)
    expect(await ask(method, { cookie, origin: ADDRESS })).toBe(200)
    expect(await ask(method, { cookie })).toBe(403)
    for (const other of others) {
      expect(await ask(method, { cookie, ...ours, ...other }), JSON.stringify(other)).toBe(403)
      expect(await ask(method, { authorization: `Bearer ${token}`, ...ours, ...other })).toBe(200)
    }
  }
  expect(await ask('GET', { cookie, 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' })).toBe(200)
})
