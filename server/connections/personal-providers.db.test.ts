import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { newPersonalProvider } from '#contract/provider.ts'
import { createLog } from '#server/base/log.ts'
import { createGuardedFetch } from '#server/providers/guarded-fetch.ts'
import { allowNetworks } from '#server/providers/public-address.ts'
import type { Person } from '#test/assistant.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { serveLoopback } from '#test/loopback.ts'
import { startStubModel, type StubModel } from '#test/stub-model.ts'
import { createPersonalProviders, type PersonalProviders } from './personal-providers.ts'

const KEY = 'sk-of-the-person-4711'
const encryptionKey = randomBytes(32)
const { signal } = new AbortController()
let db: TestDatabase
let stub: StubModel
let person: Person
let stranger: Person
let providers: PersonalProviders

beforeAll(async () => {
  db = await createTestDatabase()
  stub = await startStubModel({ models: 'stub-gpt,text-embedding-3-small' })
})
beforeEach(async () => {
  person = await db.createPerson()
  stranger = await db.createPerson()
  providers = open()
})
afterAll(async () => {
  await stub.stop()
  await db.drop()
})

/** @param networks additional networks that the operator allows. */
function open({ networks = ['127.0.0.1'], key = encryptionKey, envKey = undefined as string | undefined } = {}) {
  const account = { apiKey: envKey, baseUrl: stub.baseUrl }
  return createPersonalProviders({
    database: db.database,
    encryptionKey: key,
    settings: {
      anthropic: account,
      openai: account,
      compatible: { apiKey: undefined, baseUrl: undefined },
      idleTimeoutMs: 5_000,
    },
    guardedFetch: createGuardedFetch({ allowAddress: allowNetworks(networks) }),
    log: createLog('silent'),
  })
}

const connect = (given: unknown, who = person, using = providers) =>
  using.connect(who, newPersonalProvider.parse(given), signal)

const home = (changes: Record<string, string> = {}) => ({
  kind: 'compatible',
  name: 'Home',
  baseUrl: stub.baseUrl,
  ...changes,
})

const modelsSeenBy = (who: Person) =>
  db.database.asUser(who, async (scope) => {
    const { rows } = await scope.query<{ name: string; provider: string; model_identifier: string }>(
      'select name, provider, model_identifier from models where owner is not null and is_visible',
    )
    return rows
  })

async function answerOf(who: Person, provider: string, identifier: string): Promise<string> {
  const model = (await providers.resolve(who.sub)).chatModel(provider, identifier)
  return (await model.complete({ system: '', turns: [{ role: 'user', content: 'Hello' }], signal })).text
}

test('stores a key that only the server can use, and shows its last characters', async () => {
  expect(await connect({ kind: 'anthropic', apiKey: ` ${KEY} ` })).toMatchObject({
    name: 'Anthropic',
    last_four: '4711',
  })
  const listed = await providers.list(person)
  expect(listed).toMatchObject([{ kind: 'anthropic', last_four: '4711' }])
  expect(JSON.stringify(listed)).not.toContain(KEY)
  const { rows } = await db.admin.query<{ row: string }>('select own_providers::text as row from own_providers')
  expect(rows[0]?.row).not.toContain(Buffer.from(KEY).toString('hex'))
  await expect(
    db.database.asUser(person, (scope) => scope.query('select sealed_key from own_providers')),
  ).rejects.toMatchObject({ code: '42501' })
  expect(await answerOf(person, 'Anthropic', 'claude-sonnet-5-5')).not.toBe('')
})

test('a personal key takes precedence over the environment’s, for its owner only', async () => {
  providers = open({ envKey: 'wrong-in-the-environment' })
  await connect({ kind: 'openai', apiKey: KEY })
  expect(await answerOf(person, 'OpenAI', 'gpt-6.1-sol')).not.toBe('')
  await expect(answerOf(stranger, 'OpenAI', 'gpt-6.1-sol')).rejects.toMatchObject({ code: 'provider_refused_key' })
})

test('a rejected key is not stored and leaves the earlier one in place', async () => {
  await connect({ kind: 'anthropic', apiKey: KEY })
  await expect(connect({ kind: 'anthropic', apiKey: 'wrong-key-0000' })).rejects.toMatchObject({
    code: 'bad_request',
    message: 'Anthropic refused this key.',
  })
  expect(await providers.list(person)).toMatchObject([{ last_four: '4711' }])
})

test('an endpoint is tested, and its models are listed for its owner only', async () => {
  const { id } = await connect(home({ apiKey: KEY }))
  const [model] = await modelsSeenBy(person)
  expect(await modelsSeenBy(person)).toEqual([
    { name: 'stub-gpt', provider: 'Home', model_identifier: `endpoint:${id}/stub-gpt` },
  ])
  expect(await modelsSeenBy(stranger)).toEqual([])
  const identifier = model?.model_identifier ?? ''
  expect(await answerOf(person, 'Home', identifier)).not.toBe('')
  expect((await providers.resolve(person.sub)).availability('Home', identifier)).toMatchObject({ available: true })
  await expect(answerOf(stranger, 'Home', identifier)).rejects.toMatchObject({ code: 'unknown_model' })
  await expect(providers.disconnect(stranger, id)).rejects.toMatchObject({ code: 'not_found' })
  await providers.disconnect(person, id)
  expect(await modelsSeenBy(person)).toEqual([])
  await expect(answerOf(person, 'Home', identifier)).rejects.toMatchObject({
    code: 'unknown_model',
    message: `"${identifier.slice(identifier.indexOf('/') + 1)}" belongs to a model server that is no longer connected. Choose another model.`,
  })
})

test('two people can give their endpoints the same name', async () => {
  await connect(home())
  await connect(home(), stranger)
  const [mine, theirs] = [await modelsSeenBy(person), await modelsSeenBy(stranger)]
  expect(mine).toHaveLength(1)
  expect(theirs).toHaveLength(1)
  expect(mine[0]?.model_identifier).not.toBe(theirs[0]?.model_identifier)
})

test('a refresh removes models that no longer exist', async () => {
  await connect(home())
  await stub.configure({ models: 'stub-new' })
  onTestFinished(() => stub.configure({ models: 'stub-gpt,text-embedding-3-small' }))
  await providers.refresh(person, signal)
  expect((await modelsSeenBy(person)).map(({ name }) => name)).toEqual(['stub-new'])
})

test('reports what is wrong with an endpoint, and stores none that fails', async () => {
  const { origin } = await serveLoopback((request, response) => {
    if (request.url?.startsWith('/empty')) response.end('{"data":[{"id":"whisper-1"}]}')
    else if (request.url?.startsWith('/moved')) response.writeHead(302, { location: `${stub.baseUrl}/models` }).end()
    else if (request.url?.startsWith('/huge')) response.end(`{"data":[],"x":"${'x'.repeat(5_000_000)}"}`)
    else if (request.url?.startsWith('/none')) response.writeHead(404).end()
    else response.end('<p>Hello</p>')
  })
  const at = (path: string) => home({ baseUrl: `${origin}${path}` })
  const refusals: [Record<string, string>, string, string][] = [
    [home({ apiKey: 'wrong-key-0000' }), 'bad_request', 'Home refused this key.'],
    [at('/empty'), 'empty', 'Home lists no model that can chat.'],
    [at('/page'), 'unavailable', 'Home answered with something that is no list of models. The address usually ends in /v1.'],
    [at('/page/v1'), 'unavailable', 'Home answered with something that is no list of models.'],
    [at('/none'), 'unavailable', 'Home answered 404 when asked for its models. The address usually ends in /v1.'],
    [at('/none/v1'), 'unavailable', 'Home answered 404 when asked for its models.'],
    [at('/huge'), 'unavailable', 'Home answered with far too much.'],
    [at('/moved'), 'unavailable', `${new URL(origin).host} sends on to another address, which is not followed.`],
    [home({ baseUrl: 'http://127.0.0.1:1/v1' }), 'unavailable', '127.0.0.1:1 cannot be reached: nothing answers at that address (ECONNREFUSED).'],
    [home({ name: 'openai' }), 'bad_request', '"openai" is the name of another group. Choose a name of your own.'],
  ] // prettier-ignore
  for (const [given, code, message] of refusals)
    await expect(connect(given), message).rejects.toMatchObject({ code, message })
  expect(await providers.list(person)).toEqual([])
})

test('a personal server accepts placeholder keys, and shows at most half of them', async () => {
  for (const [name, apiKey, end] of [
    ['One', 'EMPTY', 'TY'],
    ['Two', 'none', 'ne'],
    ['Three', 'x', ''],
    ['Four', 'ollama', 'ama'],
  ] as const)
    await expect(connect(home({ name, apiKey })), apiKey).resolves.toMatchObject({ last_four: end })
})

test('an address of a private network is rejected unless the operator allows it', async () => {
  const guarded = open({ networks: [] })
  for (const baseUrl of [stub.baseUrl, stub.baseUrl.replace('127.0.0.1', '2130706433'), 'http://[::ffff:127.0.0.1]/v1'])
    await expect(connect(home({ baseUrl }), person, guarded), baseUrl).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(
        /is not on the public internet\. Whoever runs this server can allow it with the setting ALLOWED_NETWORKS\.$/,
      ) as string,
    })
  await connect(home())
  const [model] = await modelsSeenBy(person)
  const chat = (await guarded.resolve(person.sub)).chatModel('Home', model?.model_identifier ?? '')
  const asked = chat.complete({ system: '', turns: [{ role: 'user', content: 'Hello' }], signal })
  await expect(asked).rejects.toThrow('is not on the public internet')
})

test('a key cannot be decrypted after the address of its row changes', async () => {
  await connect(home({ apiKey: KEY }))
  const seen: (string | undefined)[] = []
  const { origin } = await serveLoopback((request, response) => {
    seen.push(request.headers.authorization)
    response.end('{"data":[{"id":"m"}]}')
  })
  await db.admin.query('update own_providers set base_url = $1 where owner = $2', [origin, person.sub])
  await providers.refresh(person, signal)
  expect(seen).toEqual([undefined])
})

test('keys that another installation encrypted count as none', async () => {
  await connect({ kind: 'anthropic', apiKey: KEY })
  const elsewhere = await open({ key: randomBytes(32) }).resolve(person.sub)
  expect(elsewhere.configured).toEqual([])
})

test('people cannot connect providers for others', async () => {
  const forged = db.database.asUser(stranger, (scope) =>
    scope.query(
      `insert into own_providers (owner, kind, name, base_url) values ($1, 'compatible', 'x', 'https://x.test')`,
      [person.sub],
    ),
  )
  await expect(forged).rejects.toMatchObject({ code: '42501' })
})

test('an endpoint of embeddings models alone is connected, and offers no model for chat', async () => {
  await stub.configure({ models: 'BAAI/bge-m3' })
  onTestFinished(() => stub.configure({ models: 'stub-gpt,text-embedding-3-small' }))
  await connect(home())
  expect(await modelsSeenBy(person)).toEqual([])
})
