import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { serveLoopback } from '#test/loopback.ts'
import { createWebSearch } from './web-search.ts'

interface Asked {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

async function serve(answer: unknown, status = 200): Promise<{ origin: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const { origin } = await serveLoopback((request, response) => {
    const { method, url, headers } = request
    void text(request).then((body) => {
      asked.push({ method, url, headers, body })
      if (answer !== undefined)
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  return { origin, asked }
}

const { signal } = new AbortController()
const results = (snippet: string) => [{ title: 'A', url: 'https://a.test/', [snippet]: 'about <strong>a</strong>' }]
const FOUND = [{ title: 'A', address: 'https://a.test/', snippet: 'about a' }]

test('asks SearXNG for JSON', async () => {
  const { origin, asked } = await serve({ query: 'x', results: results('content') })
  const search = createWebSearch({ provider: 'searxng', url: origin, apiKey: undefined })
  expect(await search?.search('rent & notice', signal)).toEqual(FOUND)
  expect(asked[0]).toMatchObject({ method: 'GET', url: '/search?q=rent+%26+notice&format=json' })
})

test('asks Brave with its key', async () => {
  const { origin, asked } = await serve({ web: { results: results('description') } })
  const search = createWebSearch({ provider: 'brave', url: origin, apiKey: 'k' })
  expect(await search?.search('rent', signal)).toEqual(FOUND)
  expect(asked[0]).toMatchObject({ url: '/web/search?q=rent&count=6', headers: { 'x-subscription-token': 'k' } })
})

test('asks Tavily with its key', async () => {
  const { origin, asked } = await serve({ results: results('content') })
  const search = createWebSearch({ provider: 'tavily', url: origin, apiKey: 'k' })
  expect(await search?.search('rent', signal)).toEqual(FOUND)
  expect(asked[0]).toMatchObject({ method: 'POST', url: '/search', headers: { authorization: 'Bearer k' } })
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ query: 'rent', max_results: 6 })
})

test('drops results without a web address', async () => {
  const odd = [{ title: 'B', url: 'javascript:alert(1)' }, { title: 'C', url: null }, 'D', { url: 'magnet:?xt=1' }]
  const { origin } = await serve({ results: [...odd, ...results('content'), { title: null, url: 'https://e.test/' }] })
  const search = createWebSearch({ provider: 'searxng', url: origin, apiKey: undefined })
  expect(await search?.search('x', signal)).toEqual([...FOUND, { title: '', address: 'https://e.test/', snippet: '' }])
})

test('is null without a provider, and returns no results for an empty answer', async () => {
  expect(createWebSearch({ provider: undefined, url: undefined, apiKey: undefined })).toBeNull()
  const { origin } = await serve({ type: 'search' })
  expect(await createWebSearch({ provider: 'brave', url: origin, apiKey: 'k' })?.search('x', signal)).toEqual([])
})

test.for([
  [{}, 429, 'SearXNG answered with status 429.'],
  [{ results: 'many' }, 200, 'SearXNG answered with something that is no list of results.'],
  [undefined, 200, 'SearXNG did not answer within 0.05 seconds.'],
] as const)('says what went wrong: %j with status %i', async ([answer, status, message]) => {
  const { origin } = await serve(answer, status)
  const search = createWebSearch({
    provider: 'searxng',
    url: origin,
    apiKey: undefined,
    timeoutMs: answer ? 5_000 : 50,
  })
  await expect(search?.search('x', signal)).rejects.toMatchObject({ code: 'unavailable', message })
})
