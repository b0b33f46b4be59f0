import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { isFromOwnPage } from './own-page.ts'

const app = new Hono().post('/', (context) => context.json(isFromOwnPage(context, 'https://alcove.example.test')))

async function ask(headers: Record<string, string>): Promise<unknown> {
  return (await app.request('/', { method: 'POST', headers })).json()
}

test('accepts the host that was requested, and the public address behind a proxy that changes the host', async () => {
  expect(await ask({ host: '127.0.0.1:3000', origin: 'http://127.0.0.1:3000' })).toBe(true)
  expect(await ask({ host: 'alcove:3000', origin: 'https://alcove.example.test' })).toBe(true)
})

test('rejects other pages, and requests without an origin', async () => {
  for (const origin of [
    'https://example.test',
    'http://alcove.example.test',
    'https://alcove.example.test.evil.test',
    'null',
  ])
    expect(await ask({ host: 'alcove:3000', origin })).toBe(false)
  expect(await ask({ host: 'alcove:3000' })).toBe(false)
})

test('rejects a page that came over http where the public address is https, and what the browser says comes from elsewhere', async () => {
  const host = 'alcove.example.test'
  expect(await ask({ host, origin: 'http://alcove.example.test' })).toBe(false)
  expect(await ask({ host, origin: 'https://alcove.example.test' })).toBe(true)
  for (const site of ['same-site', 'cross-site', 'none'])
    expect(await ask({ host, origin: 'https://alcove.example.test', 'sec-fetch-site': site })).toBe(false)
  expect(await ask({ host, origin: 'https://alcove.example.test', 'sec-fetch-site': 'same-origin' })).toBe(true)
})
