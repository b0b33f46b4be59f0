/** Models that the operator offers: on all servers, in the lists and when a question is answered, and untouched where people pay. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { MessageRow } from '#contract/message.ts'
import { modelAvailability } from '#contract/model.ts'
import { installation, type Installation } from '#contract/operation.ts'
import { createLog } from '#server/base/log.ts'
import { readConfig } from '#server/config.ts'
import { type Alcove, startAlcove } from '#server/start/start.ts'
import { createEmptyDatabase } from './database.ts'
import { openSpaceClients, type SignedUp, type SpaceClients, WAIT_LIMIT } from './space-clients.ts'
import { copyStartedDataDir } from './started-data.ts'

const KEY = 'sk-of-the-installation-0815'
const [LAMP, STOVE] = ['openai-compatible/lamp', 'openai-compatible/stove']
const [READER, VENDORS] = ['alcove-reader', 'gpt-6-luna']
const log = createLog('silent')
const visibleModels = z.array(z.object({ model_identifier: z.string(), is_default: z.boolean() }))

let database: Awaited<ReturnType<typeof createEmptyDatabase>>
const folders: Awaited<ReturnType<typeof copyStartedDataDir>>[] = []
let models: Server
let listed = ['lamp', 'stove']
/** Keys of the requests for answers. */
let asked: string[] = []
/** Resolves before an answer to a question with the word "slowly". */
let release = Promise.resolve()
let admin: pg.Pool
let environment: Record<string, string>
let one: Alcove
let other: Alcove
let people: SpaceClients
let peopleOfOther: SpaceClients
let operator: SignedUp
let ben: SignedUp

async function startModels(): Promise<string> {
  models = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const answer = async () => {
        if (request.url === '/v1/models') {
          response.setHeader('content-type', 'application/json')
          response.end(JSON.stringify({ data: listed.map((id) => ({ id, context_length: 32_000 })) }))
          return
        }
        if (request.url === '/silent/v1/models') return
        asked.push(request.headers.authorization ?? 'none')
        if (body.includes('slowly')) await release
        // OpenAI's own models are asked by its other protocol, which is only refused here.
        if (request.url !== '/v1/chat/completions') return void response.writeHead(400).end('{}')
        response.setHeader('content-type', 'text/event-stream')
        const chunk = (delta: unknown, reason: string | null) =>
          `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
        response.end(`${chunk({ role: 'assistant', content: 'It is lit.' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
      }
      void answer()
    })
  }).listen(0, '127.0.0.1')
  await once(models, 'listening')
  return `http://127.0.0.1:${(models.address() as AddressInfo).port}/v1`
}

async function start(changes: Record<string, string> = {}): Promise<Alcove> {
  const folder = await copyStartedDataDir()
  folders.push(folder)
  return startAlcove(readConfig({ ...environment, ...changes, DATA_DIR: folder.dataDir }), log)
}

beforeAll(async () => {
  database = await createEmptyDatabase()
  admin = database.admin
  const baseUrl = await startModels()
  environment = {
    ...database.environment,
    PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMITS: 'off',
    AUTH_AUTOCONFIRM: 'true',
    OPENAI_COMPATIBLE_BASE_URL: baseUrl,
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: baseUrl,
  }
  one = await start()
  other = await start()
  people = await openSpaceClients(one.address)
  peopleOfOther = await openSpaceClients(other.address)
  operator = await people.signUp('operator')
  ben = await people.signUp('ben')
  await admin.query('insert into operators (user_id) values ($1)', [operator.id])
  await vi.waitFor(async () => expect(await visible(ben)).toContain(STOVE), WAIT_LIMIT)
})
afterAll(async () => {
  await other.stop()
  await one.stop()
  await admin.end()
  models.closeAllConnections()
  models.close()
  for (const folder of folders) await folder.remove()
})
afterEach(async () => {
  asked = []
  await set('DEFAULT_MODEL', null)
  await set('OFFER_NEW_MODELS', null)
  const { models: operated } = await read()
  await offer(operated.list.map(({ model_identifier: identifier }) => identifier))
})

async function read(): Promise<Installation> {
  return installation.parse(await (await people.call(operator, 'GET', '/api/operation')).json())
}

async function change(identifiers: readonly string[], isOffered: boolean, person = operator): Promise<Response> {
  const { models: operated } = await read()
  const ids = operated.list.flatMap((row) => (identifiers.includes(row.model_identifier) ? [row.id] : []))
  expect(ids).toHaveLength(identifiers.length)
  return people.call(person, 'PUT', '/api/operation/models', { models: ids, is_offered: isOffered })
}
const offer = async (identifiers: readonly string[]) => expect((await change(identifiers, true)).status).toBe(204)
const withdraw = async (...identifiers: string[]) => expect((await change(identifiers, false)).status).toBe(204)
const set = (name: string, value: string | null) =>
  people.call(operator, 'PUT', `/api/operation/settings/${name}`, { value })

async function listVisible(person: SignedUp, by = people) {
  return visibleModels.parse(await (await by.call(person, 'GET', '/api/models/visible')).json())
}
async function visible(person: SignedUp, by = people): Promise<string[]> {
  return (await listVisible(person, by)).map(({ model_identifier: identifier }) => identifier)
}
async function availability(person: SignedUp) {
  const answer = await people.call(person, 'GET', '/api/models/availability')
  return z.array(modelAvailability).parse(await answer.json())
}
async function defaultOf(person: SignedUp, by = people): Promise<string[]> {
  return (await listVisible(person, by)).filter((row) => row.is_default).map((row) => row.model_identifier)
}
const errorOf = ({ metadata }: MessageRow) => metadata?.['error']

test('all are offered without any decision, to the operator with their hosts and without keys', async () => {
  const answer = await people.call(operator, 'GET', '/api/operation')
  const text = await answer.text()
  expect(text).not.toContain(KEY)
  const { models: operated } = installation.parse(JSON.parse(text))
  const host = new URL(environment['OPENAI_BASE_URL'] ?? '').host
  expect(operated.are_fixed).toBe(false)
  expect(operated.providers).toEqual([
    { name: 'OpenAI', host },
    { name: 'OpenAI-compatible', host },
    { name: 'Alcove', host: null },
  ])
  const identifiers = operated.list.map(({ model_identifier: identifier }) => identifier)
  expect(identifiers).toEqual(expect.arrayContaining([VENDORS, LAMP, STOVE, READER]))
  expect(identifiers.some((identifier) => identifier.startsWith('claude'))).toBe(false)
  expect(operated.list.every(({ is_offered: isOffered }) => isOffered)).toBe(true)
  expect(operated.list.find((row) => row.model_identifier === 'gpt-5')).toMatchObject({ is_listed: false })
})

describe('a withdrawn model', () => {
  test('leaves the lists of all servers and of the data service at once, and comes back', async () => {
    await withdraw(LAMP)
    for (const by of [people, peopleOfOther]) expect(await visible(ben, by)).not.toContain(LAMP)
    const rows = await ben.client.from('models').select('model_identifier').throwOnError()
    expect(rows.data).toContainEqual({ model_identifier: STOVE })
    expect(rows.data).not.toContainEqual({ model_identifier: LAMP })
    expect((await availability(ben)).map(({ model_identifier: identifier }) => identifier)).not.toContain(LAMP)
    await offer([LAMP])
    expect(await visible(ben)).toContain(LAMP)
  })

  test('answers no question of a conversation that names it, which stays and goes on with another one', async () => {
    const conversation = await people.startConversation(ben, null, LAMP)
    expect((await people.ask(ben, conversation, 'Is the lamp lit?')).content).toBe('It is lit.')
    await withdraw(LAMP)
    asked = []
    // Its name is shown where it was used, and nowhere else.
    const former = { model_identifier: LAMP, available: false, name: 'lamp (no longer offered)' }
    expect(await availability(ben)).toContainEqual(expect.objectContaining(former))
    expect((await availability(operator)).map(({ model_identifier: identifier }) => identifier)).not.toContain(LAMP)
    const refused = await peopleOfOther.ask(ben, conversation, 'And now?')
    expect(errorOf(refused)).toEqual({
      code: 'not_offered',
      message: expect.stringMatching(
        /^“lamp” is no longer offered here: choose another model, such as “GPT-6.1 Sol”\.$/,
      ) as string,
      retryable: false,
    })
    expect(asked).toEqual([])
    const history = await ben.client.from('messages').select('content').eq('conversation_id', conversation)
    expect(history.data).toContainEqual({ content: 'It is lit.' })
    await ben.client.from('conversations').update({ model_name: STOVE }).eq('id', conversation).throwOnError()
    expect((await people.ask(ben, conversation, 'And now?')).content).toBe('It is lit.')
  })

  test('answers no question that was queued before', async () => {
    const conversation = await people.startConversation(ben, null, LAMP)
    let finish = () => {}
    release = new Promise((resolve) => (finish = resolve))
    await people.askOnly(ben, conversation, 'Does it burn slowly?')
    await vi.waitFor(() => expect(asked).toHaveLength(1), WAIT_LIMIT)
    const position = await people.askOnly(ben, conversation, 'Is the lamp lit?')
    await withdraw(LAMP)
    finish()
    const answer = await vi.waitFor(async () => {
      const { data } = await ben.client
        .from('messages')
        .select('metadata')
        .eq('conversation_id', conversation)
        .gt('position', position)
        .eq('sender_role', 2)
        .throwOnError()
      const failed = z
        .array(z.object({ metadata: z.looseObject({ error: z.looseObject({ code: z.string() }).optional() }) }))
        .parse(data)
        .flatMap(({ metadata }) => metadata.error ?? [])
      expect(failed).toHaveLength(1)
      return failed[0]
    }, WAIT_LIMIT)
    expect(answer).toMatchObject({ code: 'not_offered' })
  })

  test('may be Alcove Reader, or an earlier model of a vendor', async () => {
    const earlier = await people.startConversation(ben, null, 'gpt-5')
    expect(await availability(ben)).toContainEqual(
      expect.objectContaining({ model_identifier: 'gpt-5', available: true, name: 'GPT-5' }),
    )
    await withdraw(READER, 'gpt-5')
    expect(await availability(ben)).toContainEqual(
      expect.objectContaining({ model_identifier: 'gpt-5', available: false, name: 'GPT-5 (no longer offered)' }),
    )
    await ben.client.from('conversations').delete().eq('id', earlier).throwOnError()
    expect(await visible(ben)).not.toContain(READER)
    for (const [model, name] of [
      [READER, 'Alcove Reader'],
      ['gpt-5', 'GPT-5'],
    ] as const) {
      const conversation = await people.startConversation(ben, null, model)
      expect(errorOf(await people.ask(ben, conversation, 'Is the lamp lit?'))).toMatchObject({
        code: 'not_offered',
        message: expect.stringContaining(`“${name}” is no longer offered here`) as string,
      })
    }
  })

  test('is the default of a space no more', async () => {
    const space = await people.createSpace(ben, 'Lighthouse')
    await ben.client.from('spaces').update({ default_model: LAMP }).eq('id', space).throwOnError()
    // The model of another member is replaced by the default of the space.
    const gone = `endpoint:${space}/theirs`
    await set('DEFAULT_MODEL', STOVE)
    await withdraw(LAMP)
    const conversation = await people.startConversation(ben, space, gone)
    const answer = await people.ask(ben, conversation, 'Is the lamp lit?')
    expect(answer).toMatchObject({ content: 'It is lit.', metadata: { model: STOVE } })
  })
})

describe('a key of their own', () => {
  const ownKey = { kind: 'openai', apiKey: 'sk-of-a-person-4711' }

  test('reaches what is withdrawn from everybody else', async () => {
    const ann = await people.signUp('ann')
    expect((await people.call(ann, 'POST', '/api/providers', ownKey)).status).toBe(201)
    await withdraw(VENDORS)
    expect(await visible(ann)).toContain(VENDORS)
    expect(await visible(ben)).not.toContain(VENDORS)
    const conversation = await people.startConversation(ann, null, VENDORS)
    await people.ask(ann, conversation, 'Is the lamp lit?')
    expect(new Set(asked)).toEqual(new Set(['Bearer sk-of-a-person-4711']))
    asked = []
    const ofBen = await people.startConversation(ben, null, VENDORS)
    expect(errorOf(await people.ask(ben, ofBen, 'Is the lamp lit?'))).toMatchObject({ code: 'not_offered' })
    expect(asked).toEqual([])
  })

  test('of a space reaches it there, for its members alone', async () => {
    const [ann, eve] = [await people.signUp('ann'), await people.signUp('eve')]
    const space = await people.createSpace(ann, 'Lighthouse')
    await people.join(ann, eve, space, 'reader')
    expect((await people.call(ann, 'POST', `/api/spaces/${space}/providers`, ownKey)).status).toBe(201)
    await withdraw(VENDORS)
    const inSpace = await people.startConversation(eve, space, VENDORS)
    await people.ask(eve, inSpace, 'Is the lamp lit?')
    expect(new Set(asked)).toEqual(new Set(['Bearer sk-of-a-person-4711']))
    asked = []
    const elsewhere = await people.startConversation(eve, null, VENDORS)
    expect(errorOf(await people.ask(eve, elsewhere, 'Is the lamp lit?'))).toMatchObject({ code: 'not_offered' })
    expect(asked).toEqual([])
    expect(await visible(ben)).not.toContain(VENDORS)
    const availability = async (at: string) =>
      z
        .array(modelAvailability)
        .parse(await (await people.call(eve, 'GET', `/api/models/availability${at}`)).json())
        .find((row) => row.model_identifier === VENDORS)
    expect(await availability(`?space=${space}`)).toMatchObject({ available: true, reason: null })
    expect(await availability('')).toMatchObject({ available: false, reason: 'This model is not offered here.' })
  })
})

describe('the default of new conversations', () => {
  test('is chosen on all servers, and is not withdrawn', async () => {
    expect((await set('DEFAULT_MODEL', STOVE)).status).toBe(204)
    for (const by of [people, peopleOfOther]) expect(await defaultOf(ben, by)).toEqual([STOVE])
    // The other server lists the models, and leaves the default as it was chosen here.
    expect((await peopleOfOther.call(ben, 'POST', '/api/models/refresh')).status).toBe(204)
    expect(await defaultOf(ben)).toEqual([STOVE])
    const refused = await change([STOVE], false)
    expect(refused.status).toBe(409)
    expect(await refused.text()).toContain('Choose another model for them first.')
    await set('DEFAULT_MODEL', null)
    expect(await defaultOf(ben)).toEqual(['gpt-6.1-sol'])
  })

  test('is one that is offered, and another one once it is withdrawn', async () => {
    await withdraw('gpt-6.1-sol', LAMP)
    expect(await defaultOf(ben)).not.toContain('gpt-6.1-sol')
    expect(await defaultOf(ben)).toHaveLength(1)
    for (const model of [LAMP, 'no-such-model', 'claude-sonnet-5-5'])
      expect((await set('DEFAULT_MODEL', model)).status).toBe(409)
  })
})

test('at least one model is offered', async () => {
  const { models: operated } = await read()
  const all = operated.list.map(({ model_identifier: identifier }) => identifier)
  const refused = await change(all, false)
  expect(refused.status).toBe(409)
  expect(await refused.text()).toContain('At least one model has to be offered.')
  expect(await visible(ben)).toContain(STOVE)
})

test('a new model is offered or not as the operator chose', async () => {
  const refresh = () => people.call(ben, 'POST', '/api/models/refresh')
  listed = ['lamp', 'stove', 'early']
  await refresh()
  expect(await visible(ben)).toContain('openai-compatible/early')
  expect((await set('OFFER_NEW_MODELS', 'false')).status).toBe(204)
  expect((await set('OFFER_NEW_MODELS', 'perhaps')).status).toBe(400)
  listed = ['lamp', 'stove', 'late']
  await refresh()
  expect(await visible(ben)).not.toContain('openai-compatible/late')
  expect(await visible(ben)).toEqual(expect.arrayContaining([LAMP, STOVE, READER]))
  await offer(['openai-compatible/late'])
  expect(await visible(ben)).toContain('openai-compatible/late')
  listed = ['lamp', 'stove']
  await refresh()
})

test.each([
  ['models of others', { models: ['00000000-0000-4000-8000-000000000000'], is_offered: false }, 404],
  ['no models', { models: [], is_offered: false }, 400],
  ['what is no id', { models: ['lamp'], is_offered: false }, 400],
  ['no decision', { models: ['00000000-0000-4000-8000-000000000000'] }, 400],
])('%s are refused', async (_, body, status) => {
  expect((await people.call(operator, 'PUT', '/api/operation/models', body)).status).toBe(status)
})

test('a model that a person connected is not the operator’s', async () => {
  const { rows } = await admin.query<{ id: string }>(
    `with made as (
       insert into own_providers (owner, kind, name, base_url) values ($1, 'compatible', 'Home', 'https://models.test') returning id
     )
     insert into models (name, version, model_identifier, provider, family, context_window, owner, own_provider)
     select 'Theirs', '1', 'endpoint:' || id || '/theirs', 'Home', 'compatible', 32000, $1, id from made returning id`,
    [ben.id],
  )
  expect(JSON.stringify(await read())).not.toContain('Theirs')
  const body = { models: [rows[0]?.id], is_offered: false }
  expect((await people.call(operator, 'PUT', '/api/operation/models', body)).status).toBe(404)
})

test('another person neither reads nor changes what is offered', async () => {
  const refused = await change([LAMP], false, ben)
  expect(refused.status).toBe(404)
  expect(await visible(ben)).toContain(LAMP)
  const changed = await ben.client.from('models').update({ is_offered: false }).eq('model_identifier', LAMP)
  expect(changed.error?.code).toBe('42501')
})

test('the environment decides before the page', async () => {
  const third = await start({ OFFERED_MODELS: 'lamp, gpt-6-luna', DEFAULT_MODEL: 'stove', OFFER_NEW_MODELS: 'true' })
  try {
    const by = await openSpaceClients(third.address)
    await vi.waitFor(
      async () => expect((await visible(ben, by)).filter((name) => !/^(claude|endpoint)/.test(name))).toHaveLength(3),
      WAIT_LIMIT,
    )
    expect(await visible(ben, by)).toEqual(expect.arrayContaining([LAMP, STOVE, VENDORS]))
    expect(await defaultOf(ben, by)).toEqual([STOVE])
    const { models: operated, settings } = installation.parse(
      await (await by.call(operator, 'GET', '/api/operation')).json(),
    )
    expect(operated.are_fixed).toBe(true)
    expect(settings.find(({ name }) => name === 'DEFAULT_MODEL')).toMatchObject({ value: 'stove', is_fixed: true })
    const ids = operated.list.map(({ id }) => id)
    for (const refused of [
      await by.call(operator, 'PUT', '/api/operation/models', { models: ids, is_offered: true }),
      await by.call(operator, 'PUT', '/api/operation/settings/DEFAULT_MODEL', { value: LAMP }),
      await by.call(operator, 'PUT', '/api/operation/settings/OFFER_NEW_MODELS', { value: 'false' }),
    ]) {
      expect(refused.status).toBe(409)
      expect(await refused.text()).toContain('is set in the environment of the server.')
    }
  } finally {
    await third.stop()
  }
})

test('what the environment decides holds from the start, also while no model server answers', async () => {
  const decided = await start({
    OFFERED_MODELS: 'gpt-6-luna',
    DEFAULT_MODEL: 'stove',
    OPENAI_COMPATIBLE_BASE_URL: new URL('/silent/v1', environment['OPENAI_BASE_URL']).href,
  })
  try {
    const by = await openSpaceClients(decided.address)
    const names = await visible(ben, by)
    expect(names).toEqual(expect.arrayContaining([STOVE, VENDORS]))
    expect(names).not.toContain(LAMP)
    expect(await defaultOf(ben, by)).toEqual([STOVE])
  } finally {
    await decided.stop()
  }
})
