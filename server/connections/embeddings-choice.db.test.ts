/** An endpoint of the server whose embeddings model a person chooses: offered, agreed to, computed, and ended again. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newPersonalProvider } from '#contract/provider.ts'
import { createLog } from '#server/base/log.ts'
import { createEmbedder, type Embedder } from '#server/providers/embed.ts'
import { createGuardedFetch } from '#server/providers/guarded-fetch.ts'
import { allowNetworks } from '#server/providers/public-address.ts'
import { searchDocuments } from '#server/search/search.ts'
import { createEmbeddingJobs } from '#server/search/vectors/embed-job.ts'
import { markEmbedded, readEmbeddingProgress } from '#server/search/vectors/vector-store.ts'
import type { Person } from '#test/assistant.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { jobRun } from '#test/job-run.ts'
import { addReadDocument } from '#test/library.ts'
import { serveLoopback } from '#test/loopback.ts'
import { createEmbeddingsChoices, type EmbeddingsChoices } from './embeddings-choice.ts'
import { giveConsent } from './embeddings-consents.ts'
import type { ServerEndpoint } from './personal-embedders.ts'
import { createPersonalProviders, type PersonalProviders } from './personal-providers.ts'

const { signal } = new AbortController()
const log = createLog('silent')
const PAGES = ['the harbour light', 'ducks on a pond', 'a ledger of copper']
let db: TestDatabase
let person: Person
let stranger: Person
let providers: PersonalProviders
let choices: EmbeddingsChoices
let baseUrl: string
let host: string
/** `model key: first text` of every request for vectors. */
let asked: string[]
/** Called for each request for vectors before it is answered. */
let onAsked: () => Promise<void>
let failure: string | undefined

beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())
beforeEach(async () => {
  asked = []
  onAsked = () => Promise.resolve()
  failure = undefined
  person = await db.createPerson()
  stranger = await db.createPerson()
  // Ollama: a list in the format of OpenAI, and capabilities of each model.
  const { origin } = await serveLoopback((request, response) => {
    const key = request.headers.authorization?.slice('Bearer '.length) ?? 'none'
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      const names = ['llama3.2:3b', 'acorn:latest', 'nomic-embed-text:latest']
      if (request.url === '/v1/models') return void response.end(JSON.stringify({ data: names.map((id) => ({ id })) }))
      if (request.url === '/api/tags')
        return void response.end(JSON.stringify({ models: names.map((name) => ({ name, model: name })) }))
      const body = text === '' ? {} : (JSON.parse(text) as { model?: string; input?: string[] })
      if (request.url === '/api/show')
        return void response.end(
          JSON.stringify({ capabilities: body.model?.startsWith('llama') ? ['completion'] : ['embedding'] }),
        )
      if (request.url !== '/v1/embeddings') return void response.writeHead(404).end()
      const { model = '', input = [] } = body
      asked.push(`${model} ${key}: ${input[0] ?? ''}`)
      void onAsked().then(() => {
        if (failure !== undefined)
          return void response.writeHead(404).end(JSON.stringify({ error: { message: failure } }))
        const data = input.map((given, index) => ({
          index,
          embedding: [/harbour|qwertz/.test(given) ? 1 : -1, 0.5, 0.1],
        }))
        response.end(JSON.stringify({ data, model, usage: { prompt_tokens: 1 } }))
      })
    })
  })
  baseUrl = `${origin}/v1`
  host = new URL(origin).host
  open()
})

const endpoint = (): ServerEndpoint => ({
  id: 'compatible',
  name: 'OpenAI-compatible',
  baseUrl,
  apiKey: 'of the server',
})

function open({
  serverEndpoints = [endpoint()],
  operator = null,
}: { serverEndpoints?: ServerEndpoint[]; operator?: Embedder | null } = {}) {
  const none = { apiKey: undefined, baseUrl: undefined }
  providers = createPersonalProviders({
    database: db.database,
    encryptionKey: randomBytes(32),
    settings: { anthropic: none, openai: none, compatible: none, idleTimeoutMs: 5_000 },
    guardedFetch: createGuardedFetch({ allowAddress: allowNetworks(['127.0.0.1']) }),
    embedder: operator,
    serverEndpoints,
    log,
  })
  choices = createEmbeddingsChoices({
    database: db.database,
    personalProviders: providers,
    serverEndpoints,
    operator: operator && { key: operator.model, model: operator.model, host },
  })
}

const choose = (who = person, model = 'nomic-embed-text') =>
  choices.choose(who, { provider: 'compatible', model, host }, signal)

const resolveEmbedder = (owner: string) => providers.resolveEmbedder(owner)

/** Runs all due jobs; their failures are stored. */
async function embedAll({
  defaultModel = null as string | null,
  serverAddresses = [baseUrl],
  embedderOf = resolveEmbedder,
} = {}): Promise<number> {
  const jobs = createEmbeddingJobs({ database: db.database, embedderOf, defaultModel, serverAddresses, log })
  const [job] = Object.values(jobs)
  const due = (await job?.findWork?.()) ?? []
  for (const { data } of due) await job?.run(data, jobRun(signal)).catch(() => undefined)
  return due.length
}

async function progressOf(who = person) {
  const inUse = await choices.read(who)
  return inUse && (await db.database.asUser(who, (scope) => readEmbeddingProgress(scope, inUse.key)))
}

const modelsOf = async ({ sub }: Person) =>
  (
    await db.admin.query<{ model: string }>('select distinct model from passage_vectors where owner = $1', [sub])
  ).rows.map(({ model }) => model)

const search = async (question: string, who = person) => {
  const embedder = await providers.resolveEmbedder(who.sub)
  return db.database.asUser(who, (scope) => searchDocuments(scope, question, { embedder }))
}

test('an embeddings model of the server’s endpoint is offered, with the host that would receive the texts', async () => {
  expect(await choices.listOffers(person, signal)).toEqual({
    offers: [
      { provider: 'compatible', provider_name: 'OpenAI-compatible', host, models: ['nomic-embed-text', 'acorn'] },
    ],
    failures: [],
  })
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  expect(await embedAll()).toBe(0)
  expect(asked).toEqual([])
})

test('nothing is sent for an account that is disabled, also in the middle of a document', async () => {
  const setBan = (until: string | null) =>
    db.admin.query('update auth.users set banned_until = $2 where id = $1', [person.sub, until])
  await addReadDocument(
    db.database,
    person,
    'a.txt',
    Array.from({ length: 300 }, (_, page) => `the harbour of ${page}`),
  )
  await choose()
  asked = []
  await setBan('2500-01-01')
  expect(await embedAll()).toBe(0)
  await setBan(null)
  onAsked = async () => {
    await setBan('2500-01-01')
  }
  expect(await embedAll()).toBe(1)
  expect(asked).toHaveLength(1)
  await setBan(null)
  onAsked = () => Promise.resolve()
  await embedAll()
  expect(await progressOf()).toMatchObject({ passages: 300, embedded: 300 })
})

test('once chosen, the documents of this person alone are read, and found by what they mean', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await addReadDocument(db.database, stranger, 'b.txt', ['the harbour of another person'])
  await choose()
  expect(await choices.read(person)).toMatchObject({
    source: 'server',
    model: 'nomic-embed-text',
    host,
    available: true,
  })
  expect(await progressOf()).toEqual({ passages: 3, embedded: 0, failure: null })
  await embedAll()
  expect(await progressOf()).toEqual({ passages: 3, embedded: 3, failure: null })
  expect(asked.every((one) => one.startsWith('nomic-embed-text of the server: '))).toBe(true)
  expect(asked.join()).not.toContain('another person')
  const { passages, trace } = await search('qwertz')
  expect(passages[0]?.text).toContain('harbour')
  expect(trace.notes).toEqual([])
  expect((await search('qwertz', stranger)).passages).toEqual([])
})

test('ending it deletes the vectors, and nothing is sent any more', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  await embedAll()
  await choices.stop(person)
  expect(await modelsOf(person)).toEqual([])
  expect(await choices.read(person)).toBeNull()
  expect(await providers.resolveEmbedder(person.sub)).toBeNull()
  asked.length = 0
  expect(await embedAll()).toBe(0)
  expect((await search('qwertz')).passages).toEqual([])
  expect(asked).toEqual([])
})

test('vectors that arrive after it was ended are not stored, and no further texts are sent', async () => {
  await addReadDocument(
    db.database,
    person,
    'a.txt',
    Array.from({ length: 40 }, (_, n) => `page ${n} of the harbour`),
  )
  await choose()
  asked.length = 0
  onAsked = () => choices.stop(person)
  await embedAll()
  expect(asked).toHaveLength(1)
  expect(await modelsOf(person)).toEqual([])
})

test('the text of an end that is withdrawn through the database is deleted too', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  await embedAll()
  await db.database.asUser(person, (scope) => scope.query('delete from embeddings_consents'))
  expect(await modelsOf(person)).toEqual([])
})

test('another model of the endpoint takes over once it has read the library', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  await embedAll()
  await choose(person, 'acorn')
  const during = await search('qwertz')
  expect(during.trace.notes).toEqual(['Vectors of nomic-embed-text, until those of acorn are complete.'])
  expect(during.passages[0]?.text).toContain('harbour')
  await embedAll()
  expect(await modelsOf(person)).toEqual([`server:${baseUrl} acorn`])
})

test('a provider of the person replaces it and is replaced by it; whichever ends last leaves no vectors', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  await embedAll()
  const home = newPersonalProvider.parse({ kind: 'compatible', name: 'Home', baseUrl, apiKey: 'of-the-person' })
  const { id } = await providers.connect(person, home, signal)
  await choices.choose(person, { provider: id, model: 'acorn', host }, signal)
  expect(await choices.read(person)).toMatchObject({
    source: 'own',
    provider: id,
    provider_name: 'Home',
    model: 'acorn',
  })
  await embedAll()
  expect((await search('qwertz')).passages[0]?.text).toContain('harbour')
  await choose()
  expect(await choices.read(person)).toMatchObject({ source: 'server', model: 'nomic-embed-text' })
  expect(await providers.list(person)).toMatchObject([{ embeddings_model: null }])
  await providers.chooseEmbeddings(person, id, 'acorn', signal)
  await providers.chooseEmbeddings(person, id, null, signal)
  expect(await modelsOf(person)).toEqual([])
})

test('an endpoint of the server that is no longer chosen receives no question, also while its vectors are the only ones', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  const second = { ...endpoint(), id: 'openai', name: 'OpenAI', apiKey: 'of the second' } as const
  const elsewhere = { ...second, baseUrl: `${baseUrl}/` }
  open({ serverEndpoints: [endpoint(), elsewhere] })
  await choose()
  await embedAll()
  const expectNoQuestion = async () => {
    asked.length = 0
    const { passages, trace } = await search('harbour')
    expect(asked).toEqual([])
    expect(passages).toHaveLength(1)
    expect(trace.notes).toEqual([
      'Found by words alone. The model of these vectors is no longer used, those of another are being computed.',
    ])
  }
  await db.database.asUser(person, (scope) => giveConsent(scope, { address: elsewhere.baseUrl, model: 'acorn' }))
  await expectNoQuestion()
  await choose()
  const home = newPersonalProvider.parse({ kind: 'compatible', name: 'Home', baseUrl, apiKey: 'of-the-person' })
  const { id } = await providers.connect(person, home, signal)
  await choices.choose(person, { provider: id, model: 'acorn', host }, signal)
  await expectNoQuestion()
  await embedAll()
  expect((await search('qwertz')).passages[0]?.text).toContain('harbour')
  expect(asked.every((one) => one.startsWith('acorn of-the-person: '))).toBe(true)
})

test('a second user neither sees nor changes the choice, the progress and the failure', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  failure = 'asleep'
  await embedAll()
  expect(await progressOf()).toMatchObject({ failure: expect.stringContaining('asleep') as unknown })
  expect(await choices.read(stranger)).toBeNull()
  for (const table of ['embeddings_consents', 'embeddings_failures', 'passage_vectors', 'embedded_documents']) {
    const { rows } = await db.database.asUser(stranger, (scope) => scope.query(`select owner from ${table}`))
    expect(rows, table).toEqual([])
  }
  const key = (await choices.read(person))?.key ?? ''
  expect(await db.database.asUser(stranger, (scope) => readEmbeddingProgress(scope, key))).toEqual({
    passages: 0,
    embedded: 0,
    failure: null,
  })
  await choices.stop(stranger)
  const insert = (scope: { query: (text: string, values: unknown[]) => Promise<unknown> }) =>
    scope.query(`insert into embeddings_consents (owner, address, model) values ($1, 'https://elsewhere.test', 'x')`, [
      person.sub,
    ])
  await expect(db.database.asUser(stranger, insert)).rejects.toThrow('row-level security')
  expect(await choices.read(person)).toMatchObject({ source: 'server', model: 'nomic-embed-text' })
})

test('an endpoint that moved to another address receives nothing until the person agrees again', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  const moved = { ...endpoint(), baseUrl: `${baseUrl.slice(0, -3)}/other/v1` }
  open({ serverEndpoints: [moved] })
  asked.length = 0
  expect(await choices.read(person)).toMatchObject({ source: 'server', available: false, model: 'nomic-embed-text' })
  expect(await embedAll({ serverAddresses: [moved.baseUrl] })).toBe(0)
  expect(await providers.resolveEmbedder(person.sub)).toBeNull()
  expect(asked).toEqual([])
})

test('a choice for another host than the one that was shown is refused', async () => {
  const shown = { provider: 'compatible', model: 'nomic-embed-text', host: 'models.test' }
  await expect(choices.choose(person, shown, signal)).rejects.toMatchObject({ code: 'conflict' })
  await expect(choices.choose(person, { ...shown, provider: 'openai' }, signal)).rejects.toMatchObject({
    code: 'not_found',
  })
  expect(asked).toEqual([])
})

test('a model that does not answer is refused with its reason, and nothing is chosen', async () => {
  failure = 'no such model'
  await expect(choose()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('no such model') as unknown,
  })
  expect(await choices.read(person)).toBeNull()
})

test('an endpoint that fails later is told of, is left alone for a while, and goes on once it is chosen again', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  failure = 'asleep'
  expect(await embedAll()).toBe(1)
  expect(await progressOf()).toMatchObject({ embedded: 0, failure: expect.stringContaining('asleep') as unknown })
  expect(await embedAll()).toBe(0)
  expect((await search('harbour')).passages).toHaveLength(1)
  failure = undefined
  await choices.stop(person)
  await choose()
  expect(await progressOf()).toMatchObject({ failure: null })
  await embedAll()
  expect(await progressOf()).toEqual({ passages: 3, embedded: 3, failure: null })
})

test('a model that failed does not hold up another one, nor itself once it is chosen again', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  failure = 'asleep'
  await embedAll()
  failure = undefined
  await choose(person, 'acorn')
  expect(await embedAll()).toBe(1)
  expect(await progressOf()).toEqual({ passages: 3, embedded: 3, failure: null })
  await addReadDocument(db.database, person, 'b.txt', ['a second harbour'])
  failure = 'asleep'
  await embedAll()
  expect(await embedAll()).toBe(0)
  failure = undefined
  await choose(person, 'acorn')
  expect(await progressOf()).toMatchObject({ failure: null })
  expect(await embedAll()).toBe(1)
})

test.each([
  ['ended', () => choices.stop(person)],
  ['changed', () => choose(person, 'acorn')],
])('a failure that comes after the choice was %s is not stored', async (_which, change) => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  onAsked = async () => {
    onAsked = () => Promise.resolve()
    await change()
    failure = 'asleep'
  }
  await embedAll()
  const { rows } = await db.admin.query('select model from embeddings_failures where owner = $1', [person.sub])
  expect(rows).toEqual([])
  failure = undefined
  await choose()
  await embedAll()
  expect(await progressOf()).toEqual({ passages: 3, embedded: 3, failure: null })
})

const markedOf = async ({ sub }: Person) =>
  (await db.admin.query<{ model: string }>('select model from embedded_documents where owner = $1', [sub])).rows

test('a document without passages is not marked once the choice has ended', async () => {
  await addReadDocument(db.database, person, 'a.txt', [''])
  await choose()
  let resolved = 0
  const embedderOf = async (owner: string) => {
    const embedder = await resolveEmbedder(owner)
    resolved += 1
    // The last look at the choice before the document is marked.
    if (resolved === 2) await choices.stop(person)
    return embedder
  }
  expect(await embedAll({ embedderOf })).toBe(1)
  expect(resolved).toBe(2)
  expect(await markedOf(person)).toEqual([])
})

test('a choice that ends while a document is being marked leaves no mark', async () => {
  const { documentId } = await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  await embedAll()
  await db.admin.query('delete from embedded_documents where owner = $1', [person.sub])
  const isWaiting = async () => {
    const { rows } = await db.admin.query<{ count: string }>(
      `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows[0]?.count
  }
  const stopping = await db.database.asService(async (scope) => {
    const model = `server:${baseUrl} nomic-embed-text`
    expect(await markEmbedded(scope, { documentId, owner: person.sub, model })).toBe(true)
    const ending = choices.stop(person)
    await Promise.race([ending, expect.poll(isWaiting, { interval: 20 }).toBe('1')])
    return { ending }
  })
  await stopping.ending
  expect(await modelsOf(person)).toEqual([])
  expect(await markedOf(person)).toEqual([])
})

test('an endpoint that cannot be reached becomes a sentence among the offers', async () => {
  open({ serverEndpoints: [{ ...endpoint(), baseUrl: 'http://127.0.0.1:1/v1' }] })
  const { offers, failures } = await choices.listOffers(person, signal)
  expect(offers).toEqual([])
  expect(failures).toEqual([expect.stringMatching(/^OpenAI-compatible cannot be reached: .*\.$/)])
})

test('where the operator has set a model nothing is offered, and an earlier choice of the server’s endpoint rests', async () => {
  await addReadDocument(db.database, person, 'a.txt', PAGES)
  await choose()
  const operator = createEmbedder({ model: 'everyones', baseUrl, apiKey: 'of the operator' })
  open({ operator })
  expect(await choices.listOffers(person, signal)).toEqual({ offers: [], failures: [] })
  expect(await choices.read(person)).toMatchObject({ source: 'operator', provider: null, model: 'everyones', host })
  asked.length = 0
  await embedAll({ defaultModel: 'everyones', serverAddresses: [] })
  expect(asked.every((one) => one.startsWith('everyones of the operator'))).toBe(true)
  expect(await modelsOf(person)).toEqual(['everyones'])
})
