/**
 * Tries every route of the running server, found at run time, as a second user and anonymously, with the ids of a first
 * user. A new route without an access check fails here.
 */
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { createClient } from '@supabase/supabase-js'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { publicConfig } from '#contract/auth.ts'
import { documentRow, uploadAnswer } from '#contract/document.ts'
import { createLog } from '#server/base/log.ts'
import { readConfig } from '#server/config.ts'
import { type Alcove, startAlcove } from '#server/start/start.ts'
import { validRequests } from '#test/fuzz/corpus.ts'
import { copyStartedDataDir } from '#test/started-data.ts'
import { startStubModel, type StubModel } from '#test/stub-model.ts'
import { startToolServer, type TestToolServer } from '#test/tool-server.ts'

interface Person {
  readonly id: string
  readonly token: string
  readonly cookie: string
}

/** Occurs in every text of the first user, and nowhere else. */
const SECRET = 'xylophone'
const FIRST_TEXT = `${SECRET} The lamp stands in the alcove.`

const logged: string[] = []

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let alcove: Alcove
let stub: StubModel
let tools: TestToolServer
let apikey: string
let first: Person
let second: Person
let conversationId: string
let documentId: string
let messageId: string
let answerId: string
let providerId: string
let toolServerId: string
/** Its reply waits for the first user's consent to a tool call. */
let askingId: string
let toolRequestId: string
let spaceId: string
let invitationId: string
let linkId: string
let spaceProviderId: string

beforeAll(async () => {
  folder = await copyStartedDataDir()
  stub = await startStubModel()
  tools = await startToolServer()
  const config = readConfig({
    DATA_DIR: folder.dataDir,
    PORT: '0',
    AUTH_AUTOCONFIRM: 'true',
    ALLOWED_NETWORKS: '127.0.0.1',
  })
  alcove = await startAlcove(config, createLog('debug', { write: (line) => void logged.push(line) }))
  apikey = ((await (await fetch(`${alcove.address}/config.json`)).json()) as { supabaseAnonKey: string })
    .supabaseAnonKey
  first = await signUp('first@example.test')
  second = await signUp('second@example.test')
  await seed()
})
afterAll(async () => {
  await alcove.stop()
  await stub.stop()
  tools.stop()
  await folder.remove()
})

async function signUp(email: string): Promise<Person> {
  const response = await fetch(`${alcove.address}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey, 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: 'a long enough password' }),
  })
  const { access_token: token, user } = (await response.json()) as { access_token: string; user: { id: string } }
  return { id: user.id, token, cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' }
}

const bearer = ({ token }: Person) => ({ apikey, authorization: `Bearer ${token}` })

const asJson = (person: Person, method: string, path: string, body?: unknown) =>
  fetch(alcove.address + path, {
    method,
    headers: { ...bearer(person), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

const fileForm = (text: string) => {
  const form = new FormData()
  form.append('files', new Blob([text], { type: 'text/plain' }), `${text.slice(0, 9)}.txt`)
  return form
}

async function seed(): Promise<void> {
  const uploaded = await fetch(`${alcove.address}/api/documents`, {
    method: 'POST',
    headers: bearer(first),
    body: fileForm(FIRST_TEXT),
  })
  documentId = uploadAnswer.parse(await uploaded.json()).documents[0]?.id ?? ''
  const conversation = await asJson(first, 'POST', '/api/conversations', { model_name: 'alcove-reader', title: SECRET })
  conversationId = ((await conversation.json()) as { id: string }).id
  const message = await asJson(first, 'POST', `/api/conversations/${conversationId}/messages`, { content: SECRET })
  messageId = ((await message.json()) as { id: string }).id
  const provider = await asJson(first, 'POST', '/api/providers', {
    kind: 'compatible',
    name: SECRET,
    baseUrl: stub.baseUrl,
    apiKey: `${SECRET}-key`,
  })
  providerId = ((await provider.json()) as { id: string }).id
  const toolServer = await asJson(first, 'POST', '/api/tool-servers', { name: SECRET, url: tools.url })
  toolServerId = ((await toolServer.json()) as { id: string }).id
  const asking = await asJson(first, 'POST', '/api/conversations', { model_name: `endpoint:${providerId}/stub-gpt` })
  askingId = ((await asking.json()) as { id: string }).id
  const content = `[[stub tool=${SECRET}__add args=${encodeURIComponent('{"a":1,"b":2}')}]]`
  await asJson(first, 'POST', `/api/conversations/${askingId}/messages`, { content })
  toolRequestId = await vi.waitUntil(
    async () => {
      const reply = await (await asJson(first, 'GET', `/api/conversations/${askingId}/reply`)).text()
      return /"request":\s*\{[^}]*?"id":\s*"([^"]+)"/.exec(reply)?.[1]
    },
    { timeout: 30_000 },
  )
  const space = await asJson(first, 'POST', '/rest/v1/spaces?select=id', { name: SECRET })
  expect(space.status).toBe(201)
  const ownRows = async (path: string) => ((await (await asJson(first, 'GET', path)).json()) as { id: string }[])[0]?.id
  spaceId = (await ownRows('/rest/v1/spaces?select=id')) ?? ''
  await asJson(first, 'POST', `/api/spaces/${spaceId}/invitations`, { email: 'invited@example.test', role: 'reader' })
  invitationId = (await ownRows('/rest/v1/space_invitations?select=id')) ?? ''
  const ofSpace = await asJson(first, 'POST', `/api/spaces/${spaceId}/providers`, {
    kind: 'compatible',
    name: `${SECRET} of the space`,
    baseUrl: stub.baseUrl,
    apiKey: `${SECRET}-key`,
  })
  spaceProviderId = ((await ofSpace.json()) as { id: string }).id
  const link = await asJson(first, 'POST', `/api/conversations/${conversationId}/links`, {})
  linkId = ((await link.json()) as { id: string }).id
  // The pages exist before the document is ready; until then its row still changes.
  await vi.waitUntil(
    async () => {
      const { state } = documentRow.parse(await (await asJson(first, 'GET', `/api/documents/${documentId}`)).json())
      return state === 'ready'
    },
    { timeout: 30_000 },
  )
  await vi.waitUntil(
    async () => (await asJson(first, 'GET', `/api/conversations/${conversationId}/reply`)).status === 204,
    { timeout: 30_000 },
  )
  answerId = (await messagesOf(first)).find(({ sender_role }) => sender_role === 2)?.id ?? ''
}

const messagesOf = async (person: Person) =>
  (await (await asJson(person, 'GET', `/api/conversations/${conversationId}/messages`)).json()) as {
    id: string
    sender_role: number
  }[]

interface Route {
  readonly method: string
  readonly path: string
}

/** Skips wildcards, which are catch-alls and middleware; routes for all methods are tried with GET. */
const routesBelow = (routes: readonly Route[], prefix: string): Route[] =>
  routes
    .filter(({ path }) => !path.includes('*') && path.startsWith(prefix))
    .map(({ method, path }) => ({ method: method === 'ALL' ? 'GET' : method, path }))

/** Fills the first user's ids into the route. */
function addressOf(path: string): string {
  const ids: [RegExp, string][] = [
    [/^\/api\/users\/:id/, first.id],
    [/^\/api\/conversations\/:id/, conversationId],
    [/^\/api\/documents\/:id/, documentId],
    [/^\/api\/providers\/:id/, providerId],
    [/^\/api\/tool-servers\/:id/, toolServerId],
    [/^\/api\/tool-requests\/:id/, toolRequestId],
    [/^\/api\/spaces\/:id/, spaceId],
    [/^\/api\/invitations\/:id/, invitationId],
    [/^\/api\/links\/:id/, linkId],
    [/^\/api\/operation\/people\/:id/, first.id],
    [/^\/api\/operation\/settings\/:name/, 'LIMIT_QUESTIONS'],
    [/:providerId/, spaceProviderId],
    [/:token/, 'A'.repeat(43)],
    [/:page/, '1'],
    [/:messageId/, answerId],
    [/search$/, `search?q=${SECRET}`],
  ]
  const address = ids.reduce(
    (filled, [pattern, id]) => filled.replace(pattern, (part) => part.replace(/:\w+|search$/, id)),
    path,
  )
  if (address.includes(':'))
    throw new Error(`${path} has a parameter that this test does not know: give it a first user's`)
  return address
}

/** A valid body for each route, as its owner would send it. */
const BODY = () => ({
  title: 'taken',
  pinned: true,
  model_name: 'alcove-reader',
  content: 'taken',
  message_id: messageId,
  filename: 'taken.txt',
  uid: first.id,
  kind: 'compatible',
  name: 'taken',
  baseUrl: stub.baseUrl,
  url: tools.url,
  answer: 'denied',
  embeddings_model: 'taken',
  provider: providerId,
  model: 'taken',
  host: new URL(stub.baseUrl).host,
  paused: true,
  space: null,
  email: 'second@example.test',
  role: 'owner',
  sha256: [createHash('sha256').update(FIRST_TEXT).digest('hex')],
})

/** Queries that lead to something of the first user. */
const queriesOf = (): Readonly<Record<string, string>> => ({
  'DELETE /api/documents': `?ids=${documentId}`,
  'GET /api/documents/matches': `?name=${SECRET}`,
  'GET /api/search/conversations': `?q=${SECRET}`,
  'GET /api/search/documents': `?q=${SECRET}`,
})

async function tryRoute({ method, path }: Route, headers: Record<string, string>): Promise<[number, string]> {
  const address = alcove.address + addressOf(path) + (queriesOf()[`${method} ${path}`] ?? '')
  const takesBody = method !== 'GET' && method !== 'DELETE'
  const json = { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(BODY()) }
  let response = await fetch(address, takesBody ? { method, ...json } : { method, headers })
  if (response.status === 415) response = await fetch(address, { method, headers, body: fileForm('of the second') })
  return [response.status, await response.text()]
}

const answersNobody = async (routes: readonly Route[]) => {
  const open: string[] = []
  for (const route of routes) {
    const [status] = await tryRoute(route, {})
    if (status !== 401) open.push(`${route.method} ${route.path} answers nobody with ${status}`)
  }
  return open
}

const everythingOfTheFirst = async () =>
  Promise.all(
    [
      `/api/users/${first.id}/conversations`,
      `/api/conversations/${conversationId}/messages`,
      '/api/documents',
      `/api/documents/${documentId}/file`,
      '/api/providers',
      '/api/tool-servers',
      `/api/conversations/${askingId}/reply`,
      '/api/models/visible',
      '/rest/v1/spaces',
      '/rest/v1/space_members',
      '/rest/v1/space_invitations',
      '/rest/v1/space_events',
      `/api/conversations/${conversationId}/links`,
    ].map(async (path) => (await asJson(first, 'GET', path)).text()),
  )

describe('every route of the product API', () => {
  test('is known to the running server', () => {
    expect(routesBelow(alcove.routes, '/api/').length).toBeGreaterThan(15)
  })

  test('answers nobody with 401', async () => {
    expect(await answersNobody(routesBelow(alcove.routes, '/api/'))).toEqual([])
  })

  test('keeps what it answers out of every cache', async () => {
    const { headers } = await asJson(first, 'GET', '/api/documents')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('would be noticed if it forgot to ask', async () => {
    expect(await answersNobody([{ method: 'GET', path: '/healthz' }])).toEqual(['GET /healthz answers nobody with 200'])
  })

  test('shows and does nothing of the first user to the second', async () => {
    const before = await everythingOfTheFirst()
    const known = [
      SECRET,
      first.id,
      conversationId,
      documentId,
      messageId,
      answerId,
      providerId,
      toolServerId,
      toolRequestId,
      spaceId,
      invitationId,
      linkId,
      spaceProviderId,
    ]
    for (const route of routesBelow(alcove.routes, '/api/')) {
      const [status, text] = await tryRoute(route, bearer(second)).catch((error: unknown) =>
        Promise.reject(new Error(`${route.method} ${route.path}`, { cause: error })),
      )
      const label = `${route.method} ${route.path} (${status})`
      expect([200, 201, 204, 403, 404], label).toContain(status)
      for (const secret of known) expect(text, label).not.toContain(secret)
    }
    expect(await everythingOfTheFirst()).toEqual(before)
  })

  test('changes nothing for a cookie that another site sends', async () => {
    const writing = routesBelow(alcove.routes, '/api/').filter(({ method }) => method !== 'GET')
    for (const route of writing) {
      for (const origin of [{}, { origin: 'https://elsewhere.example' }, { origin: 'null' }]) {
        const [status] = await tryRoute(route, { cookie: first.cookie, ...origin })
        expect(status, `${route.method} ${route.path}`).toBe(403)
      }
    }
  })

  test('refuses what a form of another site can send, with a cookie or a token', async () => {
    const forms: NonNullable<RequestInit['body']>[] = [
      JSON.stringify(BODY()),
      new URLSearchParams({ content: 'forged' }),
      new Blob([JSON.stringify(BODY())]),
      new Blob([JSON.stringify(BODY())], { type: 'application/json, text/plain' }),
      new Blob([], { type: 'application/x-www-form-urlencoded' }),
    ]
    const origin = { origin: alcove.address, 'sec-fetch-site': 'same-origin' }
    for (const { method, path } of routesBelow(alcove.routes, '/api/')) {
      if (method === 'GET') continue
      for (const body of [...forms, fileForm('forged')]) {
        if (body instanceof FormData && /documents$|versions$|transcribe$/.test(path)) continue
        for (const authority of [bearer(first), { cookie: first.cookie, ...origin }]) {
          const label = `${method} ${path} ${body.constructor.name}`
          const response = await fetch(alcove.address + addressOf(path), { method, headers: authority, body })
          expect(response.status, label).toBe(415)
          expect(await response.text(), label).toMatch(/application\/json|multipart\/form-data/)
        }
      }
    }
  })

  test('calls bad bodies bad', async () => {
    const own = (
      (await (await asJson(second, 'POST', '/api/conversations', { model_name: 'alcove-reader' })).json()) as {
        id: string
      }
    ).id
    const deep = `${'{"metadata":'.repeat(5_000)}1${'}'.repeat(5_000)}`
    const bodies = ['', '{', '[]', 'null', '{"content":"\\u0000","model_name":"\\u0000","title":"\\u0000"}', deep]
    for (const { method, path } of routesBelow(alcove.routes, '/api/conversations')) {
      if (!['POST', 'PATCH'].includes(method) || /(stop|retry|continue|unshare)$/.test(path)) continue
      for (const body of bodies) {
        const response = await fetch(alcove.address + path.replace(':id', own), {
          method,
          headers: { ...bearer(second), 'content-type': 'application/json' },
          body,
        })
        expect(response.status, `${method} ${path} ${body.slice(0, 30)}`).toBe(400)
      }
      const huge = await asJson(second, method, path.replace(':id', own), { content: 'x'.repeat(3_000_000) })
      expect(huge.status).toBe(413)
    }
  })

  test('answers every method with a body of unknown length', async () => {
    const answered = new Set(alcove.routes.map(({ method, path }) => `${method} ${path}`))
    const paths = new Set(alcove.routes.map(({ path }) => path).filter((path) => !path.includes('*')))
    expect(paths.size).toBeGreaterThan(100)
    for (const path of paths) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
        if (answered.has(`${method} ${path}`) || answered.has(`ALL ${path}`)) continue
        const response = await fetch(alcove.address + path.replaceAll(/:\w+(?:\{[^}]*\})?/g, randomUUID()), {
          method,
          headers: { ...bearer(second), 'content-type': 'application/json' },
          body: new Blob(['{"title":"x"}']).stream(),
          duplex: 'half',
        })
        expect(response.status, `${method} ${path}`).toBeLessThan(500)
        await response.body?.cancel()
      }
    }
  })
})

describe('what can be done with an answer', () => {
  const actions = (): [string, string, unknown][] => [
    ['POST', `/api/conversations/${conversationId}/stop`, undefined],
    ['POST', `/api/conversations/${conversationId}/branch`, { message_id: messageId, content: 'Otherwise?' }],
    ['POST', `/api/conversations/${conversationId}/messages/${answerId}/regenerate`, {}],
  ]
  const rating = () => ({ message_id: answerId, rating: 1 })
  const versions = async (person: Person) =>
    (await asJson(person, 'GET', `/rest/v1/message_versions?message_id=eq.${answerId}`)).json()
  const ratings = async (person: Person) =>
    (await asJson(person, 'GET', `/rest/v1/message_feedback?message_id=eq.${answerId}&select=rating`)).json()

  test('is refused to the second user, and is done for the first with the very same words', async () => {
    // These require a failed or cut reply: the owner gets a conflict.
    const unfitting = [
      `/api/conversations/${conversationId}/retry`,
      `/api/conversations/${conversationId}/messages/${answerId}/continue`,
    ]
    for (const path of unfitting) {
      expect((await asJson(second, 'POST', path)).status, path).toBe(404)
      expect((await asJson(first, 'POST', path)).status, path).toBe(409)
    }
    for (const [method, path, body] of actions())
      expect((await asJson(second, method, path, body)).status, path).toBe(404)
    expect(await messagesOf(first)).toHaveLength(2)
    for (const [method, path, body] of actions())
      expect([201, 202], path).toContain((await asJson(first, method, path, body)).status)
  })

  test('its versions are leafed through by the first user alone', async () => {
    await expect.poll(async () => ((await versions(first)) as unknown[]).length).toBe(1)
    expect(await versions(second)).toEqual([])
  })

  test('it is rated by the first user alone, whose rating nobody else sees, changes or withdraws', async () => {
    expect((await asJson(second, 'POST', '/rest/v1/message_feedback', rating())).status).toBe(403)
    expect((await asJson(first, 'POST', '/rest/v1/message_feedback', rating())).status).toBe(201)
    expect(await ratings(second)).toEqual([])
    const path = `/rest/v1/message_feedback?message_id=eq.${answerId}`
    await asJson(second, 'PATCH', path, { rating: -1 })
    await asJson(second, 'DELETE', path)
    expect(await ratings(first)).toEqual([{ rating: 1 }])
  })
})

test('the fuzzer attacks every route that the running server knows', () => {
  const attacker = { id: '', email: '', password: '', token: '', refreshToken: '', conversationId: '', messageId: '', documentId: '', objectKey: '' } // prettier-ignore
  const valid = validRequests(attacker, { modelUrl: stub.baseUrl, toolUrl: tools.url })
  const attacked = new Set(valid.map(({ method, route }) => `${method} ${route}`))
  const missing = routesBelow(alcove.routes, '/').filter(({ method, path }) => !attacked.has(`${method} ${path}`))
  expect(missing).toEqual([])
})

test('what answers without signing in is a short list', () => {
  const services = /^\/(api|auth\/v1|rest\/v1|realtime\/v1|storage\/v1)(\/|$)/
  const open = alcove.routes.filter(({ method, path }) => method !== 'ALL' && !services.test(path))
  expect([...new Set(open.map(({ method, path }) => `${method} ${path}`))].sort()).toEqual([
    'GET /*',
    'GET /assets/*',
    'GET /config.json',
    'GET /favicon.svg',
    'GET /healthz',
    'GET /mailbox',
    'GET /mailbox.css',
    'GET /mailbox.json',
    'GET /metrics',
    // Useless without a link that is printed once.
    'GET /operator',
    'GET /pdfjs/*',
    'POST /operator',
  ])
})

describe('rows', () => {
  const rest = (person: Person, method: string, path: string, body: unknown) =>
    asJson(person, method, `/rest/v1/${path}`, body)

  test('nobody writes as the assistant or as a tool', async () => {
    for (const role of [2, 3]) {
      const row = { conversation_id: conversationId, content: 'forged', sender_role: role }
      expect((await rest(first, 'POST', 'messages', row)).status).toBe(403)
      const path = `/api/conversations/${conversationId}/messages`
      expect((await asJson(first, 'POST', path, { content: 'forged', senderRole: role })).status).toBe(400)
    }
    expect((await everythingOfTheFirst()).join()).not.toContain('forged')
  })

  test('nobody changes a message, not even the own one', async () => {
    expect((await rest(first, 'PATCH', `messages?id=eq.${messageId}`, { content: 'forged' })).status).toBe(403)
    expect((await asJson(first, 'PATCH', `/api/conversations/${conversationId}/messages`, {})).status).toBe(404)
    const upsert = await fetch(`${alcove.address}/rest/v1/messages?on_conflict=id`, {
      method: 'POST',
      headers: { ...bearer(first), 'content-type': 'application/json', prefer: 'resolution=merge-duplicates' },
      body: JSON.stringify({ id: messageId, conversation_id: conversationId, content: 'forged', sender_role: 1 }),
    })
    expect(upsert.status).toBe(403)
  })

  test('nobody gives rows away or takes them', async () => {
    const mine = `conversations?id=eq.${conversationId}`
    expect((await rest(first, 'PATCH', mine, { uid: second.id })).status).toBe(403)
    expect((await rest(first, 'PATCH', `documents?id=eq.${documentId}`, { owner: second.id })).status).toBe(403)
    expect((await rest(second, 'POST', 'conversations', { uid: first.id, model_name: 'x' })).status).toBe(403)
    const row = { conversation_id: conversationId, content: 'intruding', sender_role: 1 }
    expect((await rest(second, 'POST', 'messages', row)).status).toBe(403)
    await asJson(first, 'PATCH', `/api/conversations/${conversationId}`, { uid: second.id })
    const owner = await asJson(first, 'GET', `/api/conversations/${conversationId}`)
    expect(await owner.json()).toMatchObject({ uid: first.id })
  })
})

test('signing out ends a token everywhere, and a forged one is worth nothing', async () => {
  const session = await signUp('third@example.test')
  const answers = async (token: string) =>
    Promise.all(
      ['/api/documents', '/rest/v1/conversations', '/auth/v1/user'].map(
        async (path) =>
          (await fetch(alcove.address + path, { headers: { apikey, authorization: `Bearer ${token}` } })).status,
      ),
    )
  expect(await answers(session.token)).toEqual([200, 200, 200])
  const [, claims = '', signature = ''] = session.token.split('.')
  const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url')
  expect(await answers(`${header}.${claims}.`)).toEqual([401, 401, 403])
  expect(await answers(`${header}.${claims}.${signature}`)).toEqual([401, 401, 403])
  await fetch(`${alcove.address}/auth/v1/logout`, { method: 'POST', headers: bearer(session) })
  await expect.poll(() => answers(session.token)).toEqual([401, 401, 403])
  const byCookie = await fetch(`${alcove.address}/api/documents`, { headers: { cookie: session.cookie } })
  expect(byCookie.status).toBe(401)
})

/** Calls data, files and the API with only a token. */
const answersOf = async (token: string) => {
  const headers = { apikey, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const list = { method: 'POST', headers, body: '{"prefix":""}' }
  const answers = [
    await fetch(`${alcove.address}/api/documents`, { headers }),
    await fetch(`${alcove.address}/rest/v1/conversations`, { headers }),
    await fetch(`${alcove.address}/storage/v1/object/list/documents`, list),
  ]
  return answers.map(({ ok }) => ok)
}
const OPEN = [true, true, true]
const CLOSED = [false, false, false]

async function joining(token: string, { changes = true } = {}): Promise<string> {
  const client = createClient(alcove.address, apikey, { auth: { persistSession: false } })
  await client.realtime.setAuth(token)
  const channel = client.channel('any')
  if (changes) channel.on('postgres_changes', { event: '*', schema: 'public' }, () => undefined)
  const status = await new Promise<string>((resolve) => {
    channel.subscribe((reached, error) => resolve(changes ? reached : (error?.message ?? reached)))
  })
  await client.removeAllChannels()
  await client.realtime.disconnect()
  return status
}

/** New for each attempt of a retried test. */
const newAddress = () => `${randomUUID()}@example.test`

const signIn = async (email: string) =>
  (
    (await (
      await fetch(`${alcove.address}/auth/v1/token?grant_type=password`, {
        method: 'POST',
        headers: { apikey, 'content-type': 'application/json' },
        body: JSON.stringify({ email, password: 'a long enough password' }),
      })
    ).json()) as { access_token: string }
  ).access_token

test('nobody talks on a public channel, with an account or with the published key', async () => {
  const refusal = 'PrivateOnly: This project only allows private channels'
  expect(await joining((await signUp(newAddress())).token, { changes: false })).toContain(refusal)
  expect(await joining(apikey, { changes: false })).toContain(refusal)
  const answer = await fetch(`${alcove.address}/realtime/v1/api/broadcast`, {
    method: 'POST',
    headers: { apikey, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ topic: 'any', event: 'e', payload: {} }] }),
  })
  expect(answer.status).toBe(422)
})

test('where there is a second factor, the password alone opens neither data, files, live changes nor the API', async () => {
  const email = newAddress()
  const person = await signUp(email)
  expect(await answersOf(person.token)).toEqual(OPEN)
  const client = createClient(alcove.address, apikey, { auth: { persistSession: false } })
  await client.auth.signInWithPassword({ email, password: 'a long enough password' })
  const { data: factor } = await client.auth.mfa.enroll({ factorType: 'totp' })
  const code = new TOTP({ secret: factor?.totp.secret ?? '' }).generate()
  const { data: raised } = await client.auth.mfa.challengeAndVerify({ factorId: factor?.id ?? '', code })
  const halfway = await signIn(email)
  await expect.poll(() => answersOf(halfway)).toEqual(CLOSED)
  expect(await joining(halfway)).toBe('CHANNEL_ERROR')
  expect(await answersOf(raised?.access_token ?? '')).toEqual(OPEN)
  expect(await joining(raised?.access_token ?? '')).toBe('SUBSCRIBED')
})

test('a changed password ends the sessions of all other devices everywhere, and no other person’s', async () => {
  const email = newAddress()
  const here = await signUp(email)
  const elsewhere = await signIn(email)
  expect([await answersOf(here.token), await answersOf(elsewhere)]).toEqual([OPEN, OPEN])
  const changed = await asJson(here, 'PUT', '/auth/v1/user', { password: 'another long enough one' })
  expect(changed.status).toBe(200)
  await expect.poll(() => answersOf(elsewhere)).toEqual(CLOSED)
  expect(await joining(elsewhere)).toBe('CHANNEL_ERROR')
  expect([await answersOf(here.token), await answersOf(second.token)]).toEqual([OPEN, OPEN])
})

/** `fetch` allows no other Host. */
const answerUnder = (path: string, headers: Record<string, string>): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(alcove.address)
    httpRequest({ hostname, port, path, headers, setHost: headers['host'] === undefined }, (response) => {
      readText(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
    })
      .on('error', reject)
      .end()
  })
const statusUnder = async (path: string, headers: Record<string, string>) => (await answerUnder(path, headers)).status

test('a wish to upgrade is answered, wherever it is made', async () => {
  const upgrading = (path: string, upgrade: string) => statusUnder(path, { connection: 'Upgrade', upgrade })
  expect(await upgrading('/realtime/v1/websocket', 'websocket')).toBe(401)
  expect(await upgrading('/realtime/v1/[', 'websocket')).toBe(404)
  expect(await upgrading('//[', 'websocket')).toBe(404)
  expect(await upgrading('/elsewhere', 'websocket')).toBe(404)
  expect(await upgrading('/healthz', 'h2c')).toBe(200)
})

test('nothing echoes a request, lists a folder, or serves a file that is not of the page', async () => {
  const { hostname, port } = new URL(alcove.address)
  const tracing = httpRequest({ hostname, port, path: '/api/documents', method: 'TRACE', headers: { 'x-secret': SECRET } }) // prettier-ignore
  const [traced] = (await once(tracing.end(), 'response')) as [IncomingMessage]
  expect(traced.statusCode).toBeGreaterThanOrEqual(400)
  expect(await readText(traced)).not.toContain(SECRET)
  for (const path of [
    '/.git/HEAD',
    '/.env',
    '/package.json',
    '/assets/',
    '/assets/../../../package.json',
    '/assets/%2e%2e/%2e%2e/%2e%2e/package.json',
    '/pdfjs/..%2f..%2f..%2fpackage.json',
    '//etc/passwd',
  ])
    // prettier-ignore
    expect(await statusUnder(path, {}), path).toBe(404)
})

test('who goes away in the middle of a request is not taken for a fault of the server', async () => {
  const { hostname, port } = new URL(alcove.address)
  const paths = ['/api/conversations', '/auth/v1/user', '/rest/v1/conversations', '/storage/v1/object/list/documents']
  for (const path of paths) {
    const headers = { ...bearer(first), 'content-type': 'application/json', 'content-length': 100 }
    const method = path === '/auth/v1/user' ? 'PUT' : 'POST'
    const request = httpRequest({ hostname, port, path, method, headers }).on('error', () => undefined)
    await new Promise((sent) => request.write('{', sent))
    request.destroy()
  }
  const line = z.object({
    level: z.number(),
    path: z.string().optional(),
    err: z.object({ message: z.string() }).optional(),
  })
  const broken = () =>
    logged.map((text) => line.parse(JSON.parse(text))).filter(({ err }) => err?.message === 'aborted')
  // The log names no file of a person.
  const shownPaths = [...paths.slice(0, -1), '/storage/v1/object/…']
  await expect.poll(() => [...new Set(broken().map(({ path }) => path))].sort()).toEqual(shownPaths)
  expect(new Set(broken().map(({ level }) => level))).toEqual(new Set([20]))
})

test('mailbox and figures are shown to this machine by its own name alone', async () => {
  for (const path of ['/mailbox', '/mailbox.json', '/metrics']) {
    expect(await statusUnder(path, {})).toBe(200)
    expect(await statusUnder(path, { host: 'rebound.example' })).toBe(404)
    expect(await statusUnder(path, { 'x-forwarded-for': '203.0.113.9' })).toBe(404)
    expect(await statusUnder(path, { forwarded: 'for=203.0.113.9' })).toBe(404)
  }
})

test('the test account is told to this machine by its own name alone', async () => {
  const told = async (headers: Record<string, string>) => {
    const { testAccount, mailbox } = publicConfig.parse(JSON.parse((await answerUnder('/config.json', headers)).body))
    return { testAccount, mailbox }
  }
  expect(await told({})).toMatchObject({ testAccount: { password: expect.any(String) as string } })
  for (const headers of [{ host: 'rebound.example' }, { 'x-forwarded-for': '203.0.113.9' }, { via: '1.1 proxy' }])
    expect(await told(headers)).toEqual({ testAccount: null, mailbox: null })
})
