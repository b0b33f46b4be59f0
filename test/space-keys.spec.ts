/**
 * Keys that owners put into a space: its members' questions use them there and nowhere else, none is ever shown, and they end
 * with the membership, the archiving, the space and the person whose they are.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { spaceProvider } from '#contract/space.ts'
import { createLog } from '#server/base/log.ts'
import { readConfig } from '#server/config.ts'
import { type Alcove, startAlcove } from '#server/start/start.ts'
import { serveLoopback } from '#test/loopback.ts'
import { readZip } from '#test/read-zip.ts'
import { idRow, openSpaceClients, type SignedUp, type SpaceClients } from '#test/space-clients.ts'
import { copyStartedDataDir } from '#test/started-data.ts'

const KEY = 'sk-of-the-space-4711'
const visibleModels = z.array(z.object({ model_identifier: z.string(), space_id: z.string().nullable() }))

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let alcove: Alcove
let people: SpaceClients
let baseUrl: string
/** Keys of the requests for answers. */
let paid: string[]
let ada: SignedUp
let ben: SignedUp
let eve: SignedUp
let space: string

beforeAll(async () => {
  folder = await copyStartedDataDir()
  alcove = await startAlcove(
    readConfig({ DATA_DIR: folder.dataDir, PORT: '0', AUTH_AUTOCONFIRM: 'true', ALLOWED_NETWORKS: '127.0.0.1' }),
    createLog('silent'),
  )
  people = await openSpaceClients(alcove.address)
})
afterAll(async () => {
  await alcove.stop()
  await folder.remove()
})
beforeEach(async () => {
  paid = []
  const { origin } = await serveLoopback((request, response) => {
    const key = request.headers.authorization ?? 'none'
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (key.includes('wrong')) return void response.writeHead(401).end('{}')
      if (request.url === '/v1/models') {
        response.setHeader('content-type', 'application/json')
        return void response.end(JSON.stringify({ data: [{ id: 'lamp-1', context_length: 32_000 }] }))
      }
      paid.push(key)
      const { stream = false } = z.object({ stream: z.boolean().optional() }).parse(JSON.parse(body))
      const text = 'The lamp is lit.'
      if (!stream) {
        response.setHeader('content-type', 'application/json')
        const message = { role: 'assistant', content: text }
        return void response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }))
      }
      response.setHeader('content-type', 'text/event-stream')
      const chunk = (delta: unknown, reason: string | null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
      response.end(`${chunk({ role: 'assistant', content: text }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
    })
  })
  baseUrl = `${origin}/v1`
  ;[ada, ben, eve] = [await people.signUp('Ada'), await people.signUp('Ben'), await people.signUp('Eve')]
  space = await people.createSpace(ada, 'Lighthouse')
  await people.join(ada, ben, space, 'reader')
})

const endpoint = { kind: 'compatible', name: 'Harbour', baseUrl: '', apiKey: KEY }
const providersOf = (id: string) => `/api/spaces/${id}/providers`

async function connect(person = ada, given: object = { ...endpoint, baseUrl }): Promise<string> {
  const connected = await people.call(person, 'POST', providersOf(space), given)
  const text = await connected.text()
  expect(connected.status, text).toBe(201)
  expect(text).not.toContain('4711')
  return spaceProvider.parse(JSON.parse(text)).id
}

async function modelsOf(person: SignedUp, query = ''): Promise<string[]> {
  const listed = await people.call(person, 'GET', `/api/models/visible${query}`)
  return visibleModels
    .parse(await listed.json())
    .flatMap((row) => (row.space_id === null ? [] : [row.model_identifier]))
}

test('a question in the space is paid by the key of the space, which none is shown', async () => {
  const id = await connect()
  const model = `endpoint:${id}/lamp-1`
  expect(await modelsOf(ben, `?space=${space}`)).toEqual([model])
  const available = await people.call(ben, 'GET', `/api/models/availability?space=${space}`)
  expect(await available.json()).toContainEqual({
    model_identifier: model,
    available: true,
    reason: null,
    host: new URL(baseUrl).host,
  })
  const conversation = await people.startConversation(ben, space, model)
  const { content } = await people.ask(ben, conversation, 'Is the lamp lit?')
  expect(content).toContain('The lamp is lit.')
  expect(new Set(paid)).toEqual(new Set([`Bearer ${KEY}`]))
  const listed = await people.call(ada, 'GET', providersOf(space))
  const text = await listed.text()
  expect(JSON.parse(text)).toMatchObject([
    { id, space_id: space, kind: 'compatible', name: 'Harbour', base_url: baseUrl },
  ])
  expect(text).not.toContain('4711')
  for (const person of [ada, ben]) {
    expect((await person.client.from('space_providers').select('sealed_key')).error?.code).toBe('42501')
    expect((await person.client.from('space_providers').select('*')).error?.code).toBe('42501')
  }
  const events = await ada.client.from('space_events').select('kind, detail').eq('kind', 'key_added')
  expect(events.data).toEqual([{ kind: 'key_added', detail: { name: 'Harbour' } }])
})

test('others than owners neither see, add nor remove them', async () => {
  const id = await connect()
  for (const [person, status] of [
    [ben, 403],
    [eve, 404],
    [undefined, 401],
  ] as const) {
    expect((await people.call(person, 'GET', providersOf(space))).status).toBe(status)
    expect((await people.call(person, 'POST', providersOf(space), { ...endpoint, baseUrl })).status).toBe(status)
    expect((await people.call(person, 'DELETE', `${providersOf(space)}/${id}`)).status).toBe(status)
  }
  for (const person of [ben, eve]) {
    expect((await person.client.from('space_providers').select('id')).data).toEqual([])
    expect((await person.client.from('space_providers').delete().eq('id', id).select('id')).data).toEqual([])
    const row = { space_id: space, kind: 'compatible', name: 'Mine', base_url: baseUrl }
    expect((await person.client.from('space_providers').insert(row)).error?.code).toBe('42501')
  }
  expect(await modelsOf(eve, `?space=${space}`)).toEqual([])
  expect((await eve.client.from('models').select('id').eq('space_id', space)).data).toEqual([])
  expect((await people.call(ada, 'DELETE', `${providersOf(space)}/${id}`)).status).toBe(204)
  expect(await modelsOf(ben, `?space=${space}`)).toEqual([])
})

test('outside of the space nothing uses them, also not a conversation that was moved or copied out', async () => {
  const model = `endpoint:${await connect()}/lamp-1`
  const other = await people.createSpace(ben, 'Harbour')
  expect(await modelsOf(ben)).toEqual([])
  expect(await modelsOf(ben, '?space=personal')).toEqual([])
  expect(await modelsOf(ben, `?space=${other}`)).toEqual([])
  const within = await people.startConversation(ben, space, model)
  const copied = await people.call(ben, 'POST', `/api/conversations/${within}/copy`, { space: other })
  const copy = idRow.parse(await copied.json()).id
  await people.call(ben, 'POST', `/api/conversations/${within}/move`, { space: null })
  for (const conversation of [
    within,
    copy,
    await people.startConversation(ben, null, model),
    await people.startConversation(ben, other, model),
  ])
    await people.ask(ben, conversation, 'Is the lamp lit?')
  await ben.client.from('conversations').update({ model_name: model }).eq('id', within).throwOnError()
  await people.ask(ben, within, 'And now?')
  expect(paid).toEqual([])
})

test.each<[string, () => Promise<unknown>]>([
  [
    'the membership of who asks',
    async () => ada.client.from('space_members').delete().eq('user_id', ben.id).eq('space_id', space),
  ],
  [
    'the space in use',
    async () => ada.client.from('spaces').update({ archived_at: new Date().toISOString() }).eq('id', space),
  ],
  ['the space', async () => ada.client.from('spaces').delete().eq('id', space)],
])('they end with %s', async (_, end) => {
  await connect()
  await end()
  expect(await modelsOf(ben, `?space=${space}`)).toEqual([])
  const available = await people.call(ben, 'GET', `/api/models/availability?space=${space}`)
  expect(JSON.stringify(await available.json())).not.toContain('endpoint:')
})

test('they end with the membership of the owner whose they are', async () => {
  await connect()
  await ada.client
    .from('space_members')
    .update({ role: 'owner' })
    .eq('user_id', ben.id)
    .eq('space_id', space)
    .throwOnError()
  expect(await modelsOf(ben, `?space=${space}`)).toHaveLength(1)
  await ada.client.from('space_members').delete().eq('user_id', ada.id).eq('space_id', space).throwOnError()
  expect(await modelsOf(ben, `?space=${space}`)).toEqual([])
  expect(await (await people.call(ben, 'GET', providersOf(space))).json()).toEqual([])
})

test('a key that the provider refuses, and an address within the network of the server, are refused', async () => {
  const refused = await people.call(ada, 'POST', providersOf(space), { ...endpoint, baseUrl, apiKey: 'wrong-key' })
  expect(refused.status).toBe(400)
  const inside = await people.call(ada, 'POST', providersOf(space), {
    ...endpoint,
    baseUrl: 'http://169.254.169.254/v1',
  })
  expect(inside.status).toBe(403)
  expect(await (await people.call(ada, 'GET', providersOf(space))).json()).toEqual([])
})

test('a second one of the same name replaces the first, whose conversations go on', async () => {
  const id = await connect()
  expect(await connect(ada, { ...endpoint, baseUrl, apiKey: 'sk-another-4711' })).toBe(id)
  const conversation = await people.startConversation(ben, space, `endpoint:${id}/lamp-1`)
  await people.ask(ben, conversation, 'Is the lamp lit?')
  expect(new Set(paid)).toEqual(new Set(['Bearer sk-another-4711']))
})

test('the export of an owner holds no key', async () => {
  await connect()
  const exported = await people.call(ada, 'GET', '/api/account/export')
  expect(exported.status).toBe(200)
  const files = readZip(Buffer.from(await exported.arrayBuffer()))
  expect(files.size).toBeGreaterThan(0)
  for (const [name, bytes] of files) expect(`${name} ${bytes.toString()}`).not.toMatch(/4711|sealed|providers/)
})
