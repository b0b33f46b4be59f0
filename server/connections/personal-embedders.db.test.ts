import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newPersonalProvider } from '#contract/provider.ts'
import { createLog } from '#server/base/log.ts'
import { createEmbedder } from '#server/providers/embed.ts'
import { createGuardedFetch } from '#server/providers/guarded-fetch.ts'
import { allowNetworks } from '#server/providers/public-address.ts'
import { searchDocuments } from '#server/search/search.ts'
import { createEmbeddingJobs } from '#server/search/vectors/embed-job.ts'
import type { Person } from '#test/assistant.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { jobRun } from '#test/job-run.ts'
import { addReadDocument } from '#test/library.ts'
import { serveLoopback } from '#test/loopback.ts'
import { createPersonalProviders, type PersonalProviders } from './personal-providers.ts'

const { signal } = new AbortController()
const log = createLog('silent')
let db: TestDatabase
let person: Person
let stranger: Person
let providers: PersonalProviders
/** `model key` of every request for vectors. */
let asked: string[]
let baseUrl: string
let isAway: boolean

beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())
beforeEach(async () => {
  asked = []
  isAway = false
  person = await db.createPerson()
  stranger = await db.createPerson()
  const { origin } = await serveLoopback((request, response) => {
    const key = request.headers.authorization?.slice('Bearer '.length) ?? 'none'
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      if (request.url === '/v1/models') return void response.end(JSON.stringify({ data: [{ id: 'chat' }] }))
      const { model, input } = JSON.parse(text) as { model: string; input: string[] }
      asked.push(`${model} ${key}`)
      if (isAway || model === 'unknown')
        return void response.writeHead(404).end('{"error":{"message":"no such model"}}')
      const data = input.map((given, index) => ({ index, embedding: [given.includes('harbour') ? 1 : -1, 0.5, 0.1] }))
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ data, model, usage: { prompt_tokens: 1 } }))
    })
  })
  baseUrl = `${origin}/v1`
  providers = open()
})

const everyones = () => createEmbedder({ model: 'everyones', baseUrl, apiKey: 'key-of-the-operator' })

function open(embedder = everyones()) {
  const none = { apiKey: undefined, baseUrl: undefined }
  return createPersonalProviders({
    database: db.database,
    encryptionKey: randomBytes(32),
    settings: { anthropic: { ...none, baseUrl }, openai: { ...none, baseUrl }, compatible: none, idleTimeoutMs: 5_000 },
    guardedFetch: createGuardedFetch({ allowAddress: allowNetworks(['127.0.0.1']) }),
    embedder,
    log,
  })
}

const connect = (name: string, apiKey: string, who = person) =>
  providers.connect(who, newPersonalProvider.parse({ kind: 'compatible', name, baseUrl, apiKey }), signal)

async function embedAll(defaultModel: string | null = 'everyones'): Promise<void> {
  const jobs = createEmbeddingJobs({
    database: db.database,
    embedderOf: (owner) => providers.resolveEmbedder(owner),
    defaultModel,
    log,
  })
  const [job] = Object.values(jobs)
  for (const { data } of (await job?.findWork?.()) ?? []) await job?.run(data, jobRun(signal)).catch(() => undefined)
}

const modelsOf = async ({ sub }: Person) =>
  (
    await db.admin.query<{ model: string }>('select distinct model from passage_vectors where owner = $1', [sub])
  ).rows.map(({ model }) => model)

const search = async (who = person) => {
  const embedder = await providers.resolveEmbedder(who.sub)
  const { trace } = await db.database.asUser(who, (scope) => searchDocuments(scope, 'harbour light', { embedder }))
  return { notes: trace.notes, meaning: trace.considered[0]?.scores.meaning }
}

test('a chosen model replaces the operator’s without an outage, with the key of its owner only', async () => {
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  await addReadDocument(db.database, stranger, 'b.txt', ['the harbour of somebody else'])
  await embedAll()
  expect(await modelsOf(person)).toEqual(['everyones'])
  const { id } = await connect('Home', 'key-of-the-person')
  expect(await providers.chooseEmbeddings(person, id, 'mine', signal)).toMatchObject({ embeddings_model: 'mine' })
  asked.length = 0
  expect(await search()).toMatchObject({
    notes: ['Vectors of everyones, until those of mine are complete.'],
    meaning: expect.closeTo(1) as unknown,
  })
  expect(asked).toEqual(['everyones key-of-the-operator'])
  asked.length = 0
  await embedAll()
  expect(asked).toEqual(['mine key-of-the-person'])
  expect(await modelsOf(person)).toEqual([`endpoint:${id}/mine`])
  expect(await modelsOf(stranger)).toEqual(['everyones'])
  asked.length = 0
  expect(await search()).toMatchObject({ notes: [], meaning: expect.closeTo(1) as unknown })
  expect(await search(stranger)).toMatchObject({ notes: [], meaning: expect.closeTo(1) as unknown })
  expect(asked).toEqual(['mine key-of-the-person', 'everyones key-of-the-operator'])
})

test('another provider of the same person replaces it the same way, and another key changes nothing', async () => {
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  const first = await connect('Home', 'key-of-home')
  await providers.chooseEmbeddings(person, first.id, 'mine', signal)
  await embedAll()
  expect(await connect('Home', 'new-key-of-home')).toMatchObject({ id: first.id, embeddings_model: 'mine' })
  const second = await connect('Office', 'key-of-office')
  await providers.chooseEmbeddings(person, second.id, 'mine', signal)
  expect((await providers.list(person)).map(({ embeddings_model: model }) => model)).toEqual([null, 'mine'])
  asked.length = 0
  expect((await search()).meaning).toBeCloseTo(1)
  expect(asked).toEqual(['mine new-key-of-home'])
  await embedAll()
  expect(await modelsOf(person)).toEqual([`endpoint:${second.id}/mine`])
})

test('a model of the person is not held up by a failure of the operator’s', async () => {
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  isAway = true
  await embedAll()
  isAway = false
  const { id } = await connect('Home', 'key-of-the-person')
  await providers.chooseEmbeddings(person, id, 'mine', signal)
  await embedAll()
  expect(await modelsOf(person)).toEqual([`endpoint:${id}/mine`])
  const { rows } = await db.admin.query('select model from embeddings_failures where owner = $1', [person.sub])
  expect(rows).toEqual([])
})

test('vectors of a model that ran in the server are not asked of another one, and stay in use while it runs', async () => {
  const LOCAL = 'local:e5 0123456789abcdef'
  const local = createEmbedder({ model: LOCAL, baseUrl, apiKey: 'key-of-the-server' })
  providers = open(local && { ...local, batch: 4 })
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  await embedAll(LOCAL)
  expect((await providers.resolveEmbedder(person.sub))?.batch).toBe(4)
  const { id } = await connect('Home', 'key-of-the-person')
  await providers.chooseEmbeddings(person, id, 'mine', signal)
  expect((await providers.resolveEmbedder(person.sub))?.batch).toBe(32)
  asked.length = 0
  expect(await search()).toMatchObject({ notes: ['Vectors of e5, until those of mine are complete.'] })
  expect(asked).toEqual([`${LOCAL} key-of-the-server`])
  providers = open()
  const replaced =
    'Found by words alone. The model of these vectors is no longer used, those of another are being computed.'
  asked.length = 0
  for (const model of ['mine', null]) {
    await db.admin.query('update own_providers set embeddings_model = $2 where id = $1', [id, model])
    expect(await search()).toMatchObject({ notes: [replaced] })
  }
  expect(asked).toEqual([])
})

test('removing a provider deletes its vectors, and the operator’s return', async () => {
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  const { id } = await connect('Home', 'key-of-the-person')
  await providers.chooseEmbeddings(person, id, 'mine', signal)
  await embedAll()
  await providers.disconnect(person, id)
  expect(await modelsOf(person)).toEqual([])
  expect(await search()).toEqual({ notes: ['No passage has a vector yet: found by words alone.'], meaning: undefined })
  await embedAll()
  expect(await modelsOf(person)).toEqual(['everyones'])
})

test('without an operator’s embedder, giving up a model leaves the word search', async () => {
  providers = open(null)
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  const { id } = await connect('Home', 'key-of-the-person')
  await providers.chooseEmbeddings(person, id, 'mine', signal)
  await embedAll(null)
  expect((await search()).meaning).toBeCloseTo(1)
  await providers.chooseEmbeddings(person, id, null, signal)
  expect(await providers.resolveEmbedder(person.sub)).toBeNull()
  expect(await modelsOf(person)).toEqual([])
})

test('a model that does not respond is rejected with its error, and nothing changes', async () => {
  const { id } = await connect('Home', 'key-of-the-person')
  await expect(providers.chooseEmbeddings(person, id, 'unknown', signal)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('no such model') as unknown,
  })
  expect(await providers.list(person)).toMatchObject([{ embeddings_model: null }])
})

test('an unreachable provider delays no other person', async () => {
  const other = open()
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  const { id } = await connect('Home', 'key-of-the-person')
  await providers.chooseEmbeddings(person, id, 'mine', signal)
  isAway = true
  await embedAll()
  expect(await modelsOf(person)).toEqual([])
  isAway = false
  await addReadDocument(db.database, stranger, 'b.txt', ['the harbour'])
  await embedAll()
  expect(await modelsOf(stranger)).toEqual(['everyones'])
  expect((await other.resolveEmbedder(stranger.sub))?.model).toBe('everyones')
})

test('a second user can neither choose its models nor use them', async () => {
  const { id } = await connect('Home', 'key-of-the-person')
  await expect(providers.chooseEmbeddings(stranger, id, 'mine', signal)).rejects.toMatchObject({ code: 'not_found' })
  const { rowCount } = await db.database.asUser(stranger, (scope) =>
    scope.query(`update own_providers set embeddings_model = 'taken' where id = $1`, [id]),
  )
  expect(rowCount).toBe(0)
  await providers.chooseEmbeddings(person, id, 'mine', signal)
  expect((await providers.resolveEmbedder(stranger.sub))?.model).toBe('everyones')
  expect((await providers.resolveEmbedder(stranger.sub, false))?.model).toBe('everyones')
  expect(asked.filter((one) => one.startsWith('mine'))).toEqual(['mine key-of-the-person'])
})

test('Anthropic has no vectors, and says so', async () => {
  const anthropic = newPersonalProvider.parse({ kind: 'anthropic', apiKey: 'key-of-the-person' })
  const { id } = await providers.connect(person, anthropic, signal)
  await expect(providers.chooseEmbeddings(person, id, 'mine', signal)).rejects.toMatchObject({ code: 'bad_request' })
})
