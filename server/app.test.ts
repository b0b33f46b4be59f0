import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { createTestTokens } from '#test/realtime.ts'
import { createUnsentAnswers } from './access/unsent-answers.ts'
import { createApp } from './app.ts'
import { INERT_CONTENT_POLICY } from './base/content-policy.ts'
import { createLog } from './base/log.ts'

async function headersAt(address: string, path = '/here'): Promise<Headers> {
  const operations = new Hono()
  operations.get('/here', (context) => context.text('here'))
  operations.get('/api/here', (context) => context.text('here'))
  for (const service of ['/rest/v1/here', '/storage/v1/here'])
    operations.get(service, (context) => context.text('here'))
  operations.get('/api/sandboxed', (context) => context.text('here', 200, { 'content-security-policy': 'sandbox' }))
  operations.get('/api/file', (context) => context.text('here', 200, { 'cache-control': 'private, no-cache' }))
  const tokens = await createTestTokens()
  const app = createApp(
    { operations, services: undefined, product: undefined },
    { tokens, unsentAnswers: createUnsentAnswers(), log: createLog('silent'), address },
  )
  return (await app.request(path)).headers
}

test('behind https, every response has strict-transport-security', async () => {
  for (const path of ['/here', '/nowhere'])
    expect((await headersAt('https://alcove.example', path)).get('strict-transport-security')).toBe('max-age=31536000')
})

test('responses of the API are not cached, unless they say otherwise', async () => {
  const cachingAt = async (path: string) => (await headersAt('http://127.0.0.1:3000', path)).get('cache-control')
  expect(await Promise.all(['/api/here', '/api/nowhere', '/api/file', '/here'].map(cachingAt))).toEqual([
    'no-store',
    'no-store',
    'private, no-cache',
    null,
  ])
})

test('every response forbids type sniffing', async () => {
  for (const path of ['/here', '/nowhere'])
    expect((await headersAt('http://127.0.0.1:3000', path)).get('x-content-type-options')).toBe('nosniff')
})

test('without https, no response has strict-transport-security', async () => {
  expect((await headersAt('http://127.0.0.1:3000')).get('strict-transport-security')).toBeNull()
})

test('a response of a service is inert where a browser opens it as a page', async () => {
  const policyAt = async (path: string) => (await headersAt('http://127.0.0.1', path)).get('content-security-policy')
  for (const path of ['/api/here', '/api/nowhere', '/rest/v1/here', '/storage/v1/here', '/auth/v1/nowhere'])
    expect(await policyAt(path), path).toBe(INERT_CONTENT_POLICY)
  expect(await policyAt('/api/sandboxed')).toBe('sandbox')
  // The policy of a script binds the worker that runs it.
  expect(await policyAt('/here')).toBeNull()
})

test('no response tells other sites where its reader comes from, and only stored objects may be embedded by them', async () => {
  const valuesAt = async (path: string) => {
    const headers = await headersAt('http://127.0.0.1:3000', path)
    return [headers.get('referrer-policy'), headers.get('cross-origin-resource-policy')]
  }
  for (const path of ['/here', '/nowhere', '/api/here', '/rest/v1/here'])
    expect(await valuesAt(path), path).toEqual(['no-referrer', 'same-origin'])
  expect(await valuesAt('/storage/v1/here')).toEqual(['no-referrer', null])
})
