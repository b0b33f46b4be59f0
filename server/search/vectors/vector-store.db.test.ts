import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readOwnUsage, setQuotas } from '#server/database/quotas.ts'
import type { Claims } from '#server/database/scope.ts'
import { createEmbedder, type Embedder } from '#server/providers/embed.ts'
import { indexDocument } from '#server/search/index/index-document.ts'
import { searchDocuments } from '#server/search/search.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { embedLibrary } from '#test/embed-library.ts'
import { addReadDocument } from '#test/library.ts'
import { startStubModel } from '#test/stub-model.ts'
import { insertVectors, listPassagesWithoutVector, markEmbedded, readEmbeddingProgress } from './vector-store.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

async function startEmbedder(model = 'first') {
  const stub = await startStubModel({ dims: 64 })
  let isRunning = true
  const stop = async () => {
    if (isRunning) await stub.stop()
    isRunning = false
  }
  onTestFinished(stop)
  const make = (name: string) => {
    const embedder = createEmbedder({ model: name, baseUrl: stub.baseUrl, apiKey: undefined })
    if (!embedder) throw new Error('no embedder')
    return embedder
  }
  return { embedder: make(model), make, stop }
}

const embedAll = (embedder: Embedder) => embedLibrary(db.database, embedder)

const modelsOf = async ({ sub }: Claims & { sub: string }) =>
  (
    await db.admin.query<{ model: string; count: string }>(
      'select model, count(*) from passage_vectors where owner = $1 group by model order by model',
      [sub],
    )
  ).rows.map(({ model, count }) => `${model} ${count}`)

test('passages get vectors, are found by them, and only their owner finds them', async () => {
  const [person, stranger] = [await db.createPerson(), await db.createPerson()]
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light burns all night', 'ducks on a pond'])
  await addReadDocument(db.database, stranger, 'b.txt', ['the harbour light of somebody else'])
  const { embedder } = await startEmbedder()
  await embedAll(embedder)
  expect(await modelsOf(person)).toEqual(['first 2'])
  const { passages, trace } = await db.database.asUser(person, (scope) =>
    searchDocuments(scope, 'harbour light', { embedder }),
  )
  expect(trace.notes).toEqual([])
  expect(trace.considered[0]?.scores.meaning).toBeGreaterThan(0.3)
  expect(passages[0]?.text).toContain('burns all night')
  expect(passages.map(({ filename }) => filename)).not.toContain('b.txt')
  const rows = await db.database.asUser(stranger, (scope) => scope.query('select owner from passage_vectors'))
  expect(rows.rows).toEqual([{ owner: stranger.sub }])
})

test('another model takes over when it has read the whole library, and the first answers until then', async () => {
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  await addReadDocument(db.database, person, 'b.txt', ['a pond with ducks'])
  const { embedder, make } = await startEmbedder()
  await embedAll(embedder)
  const second = make('second')
  const search = () => db.database.asUser(person, (scope) => searchDocuments(scope, 'harbour', { embedder: second }))
  const during = await search()
  expect(during.trace.notes).toEqual(['Vectors of first, until those of second are complete.'])
  expect(during.trace.considered[0]?.scores.meaning).toBeGreaterThan(0.3)
  await embedAll(second)
  expect(await modelsOf(person)).toEqual(['second 2'])
  expect((await search()).trace.notes).toEqual([])
})

test('indexing a document again drops its vectors, and the job makes them again', async () => {
  const person = await db.createPerson()
  const { documentId } = await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  const { embedder } = await startEmbedder()
  await embedAll(embedder)
  await db.database.asService((scope) =>
    indexDocument(scope, { id: documentId, owner: person.sub, filename: 'a.txt' }, [
      { page: 1, text: 'the harbour light', headings: null },
    ]),
  )
  expect(await modelsOf(person)).toEqual([])
  expect(await embedAll(embedder)).toBe(1)
  expect(await modelsOf(person)).toEqual(['first 1'])
})

describe('a document that is deleted while its vectors are stored', () => {
  const steps = {
    'as the passages get theirs': async (documentId: string, model: string) => {
      const passages = await db.database.asService((scope) =>
        listPassagesWithoutVector(scope, { documentId, model, limit: 10 }),
      )
      const vectors = passages.map(() => new Float32Array(64).fill(1 / 8))
      return () => db.database.asService((scope) => insertVectors(scope, model, { passages, vectors }))
    },
    'as it is marked': (documentId: string, model: string) =>
      Promise.resolve(() =>
        db.database.asService((scope) => markEmbedded(scope, { documentId, owner: randomUUID(), model })),
      ),
  }
  for (const [when, prepare] of Object.entries(steps))
    test(when, async () => {
      const person = await db.createPerson()
      const { documentId } = await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
      const { embedder } = await startEmbedder(when)
      if (when === 'as it is marked') {
        await embedAll(embedder)
        await db.admin.query('delete from embedded_documents where document_id = $1', [documentId])
      }
      const store = await prepare(documentId, embedder.model)
      const deleter = await db.admin.connect()
      await deleter.query('begin')
      await deleter.query('delete from documents where id = $1', [documentId])
      const stored = store()
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await expect.poll(async () => (await db.admin.query(waiting)).rowCount).toBe(1)
      await deleter.query('commit')
      deleter.release()
      expect(await stored).toBe(true)
      expect(await modelsOf(person)).toEqual([])
    })
})

test('search without a reachable provider uses words alone, and the trace says so', async () => {
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  const { embedder, stop } = await startEmbedder()
  await embedAll(embedder)
  await stop()
  const { passages, trace } = await db.database.asUser(person, (scope) =>
    searchDocuments(scope, 'harbour', { embedder }),
  )
  expect(passages).toHaveLength(1)
  expect(trace.notes.join()).toMatch(/^Found by words alone\. The embeddings provider failed/)
})

test('a model gets as many passages at a time as it wants', async () => {
  const person = await db.createPerson()
  await addReadDocument(
    db.database,
    person,
    'a.txt',
    Array.from({ length: 5 }, (_, n) => `page ${n} of the harbour`),
  )
  const { embedder } = await startEmbedder('small')
  const counts: number[] = []
  await embedAll({
    ...embedder,
    batch: 2,
    embed: (texts, options) => {
      if (texts.some((text) => text.includes('of the harbour'))) counts.push(texts.length)
      return embedder.embed(texts, options)
    },
  })
  expect(counts).toEqual([2, 2, 1])
  expect(await modelsOf(person)).toEqual(['small 5'])
})

test('a model that does not answer in time is told of with a sentence', async () => {
  const person = await db.createPerson()
  const { embedder } = await startEmbedder('slow')
  // Documents of other people.
  await embedAll(embedder)
  await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  /** As the signal of the job is aborted a minute later. */
  const slow = {
    ...embedder,
    embed: () => Promise.reject(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
  }
  await expect(embedAll(slow)).rejects.toMatchObject({ code: 'unavailable' })
  const progress = await db.database.asUser(person, (scope) => readEmbeddingProgress(scope, 'slow'))
  expect(progress).toMatchObject({ embedded: 0, failure: 'The model did not answer within a minute.' })
  await db.admin.query('delete from embeddings_failures where owner = $1', [person.sub])
  await embedAll(embedder)
  const { trace } = await db.database.asUser(person, (scope) => searchDocuments(scope, 'harbour', { embedder: slow }))
  expect(trace.notes).toEqual(['Found by words alone. The model did not answer within three seconds.'])
})

test('vectors count with the documents until they go, also of a model that never reads the whole library', async () => {
  const person = await db.createPerson()
  const usage = async () => (await db.database.asUser(person, readOwnUsage)).file_bytes
  const { documentId } = await addReadDocument(db.database, person, 'a.txt', ['the harbour light', 'ducks on a pond'])
  const before = await usage()
  const { embedder, make } = await startEmbedder()
  await embedAll(embedder)
  const vectors = (await usage()) - before
  // Two vectors of 64 dimensions.
  expect(vectors).toBeGreaterThan(2 * 64 * 4)
  const second = make('other')
  await db.database.asService(async (scope) => {
    const passages = await listPassagesWithoutVector(scope, { documentId, model: 'other', limit: 1 })
    await insertVectors(scope, 'other', {
      passages,
      vectors: await second.embed(['a'], { signal: new AbortController().signal }),
    })
  })
  expect((await usage()) - before).toBe(vectors * 1.5)
  await embedAll(second)
  expect((await usage()) - before).toBe(vectors)
  const document = { id: documentId, owner: person.sub, filename: 'a.txt' }
  const pages = ['the harbour light', 'ducks on a pond'].map((text, n) => ({ page: n + 1, text, headings: null }))
  await db.database.asService((scope) => indexDocument(scope, document, pages))
  expect(await usage()).toBe(before)
})

test('the vectors of an endpoint that a person removes no longer count', async () => {
  const person = await db.createPerson()
  const usage = async () => (await db.database.asUser(person, readOwnUsage)).file_bytes
  const { documentId } = await addReadDocument(db.database, person, 'a.txt', ['the harbour light'])
  const before = await usage()
  const { rows } = await db.admin.query<{ model: string }>(
    `insert into own_providers (owner, kind, name, base_url, embeddings_model)
     values ($1, 'compatible', 'Home', 'https://models.test', 'mine') returning embeddings_key as model`,
    [person.sub],
  )
  const model = rows[0]?.model ?? ''
  await db.database.asService(async (scope) => {
    const passages = await listPassagesWithoutVector(scope, { documentId, model, limit: 1 })
    await insertVectors(scope, model, { passages, vectors: [new Float32Array(64).fill(0.125)] })
  })
  expect(await usage()).toBeGreaterThan(before)
  await db.database.asUser(person, (scope) => scope.query('delete from own_providers'))
  expect(await usage()).toBe(before)
})

test('no vectors are stored beyond the quota of their owner, and others get theirs', async () => {
  const [person, other] = [await db.createPerson(), await db.createPerson()]
  for (const one of [person, other])
    await addReadDocument(db.database, one, 'a.txt', [`the harbour light of ${one.sub}`])
  const usage = await db.database.asUser(person, readOwnUsage)
  await db.admin.query('insert into usage_changes (owner, file_bytes, text_bytes) values ($1, $2, 0)', [
    person.sub,
    9_999_900 - usage.file_bytes,
  ])
  const unlimited = { fileBytesPerPerson: 0, textBytesPerPerson: 0, totalBytes: 0 }
  onTestFinished(() => setQuotas(db.database, unlimited))
  await setQuotas(db.database, { ...unlimited, fileBytesPerPerson: 10_000_000 })
  const { embedder } = await startEmbedder()
  await embedAll(embedder)
  expect(await modelsOf(person)).toEqual([])
  expect(await modelsOf(other)).toEqual(['first 1'])
})

test('an endpoint cannot answer with vectors of any size', async () => {
  const { embedder } = await startEmbedder()
  const stub = await startStubModel({ dims: 8_193 })
  onTestFinished(() => stub.stop())
  const wide = createEmbedder({ model: 'wide', baseUrl: stub.baseUrl, apiKey: undefined })
  const signal = new AbortController().signal
  await expect(wide?.embed(['a'], { signal })).rejects.toMatchObject({ code: 'unavailable' })
  expect(await embedder.embed(['a'], { signal })).toHaveLength(1)
})
