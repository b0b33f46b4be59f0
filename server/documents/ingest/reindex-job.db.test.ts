import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readOwnUsage } from '#server/database/quotas.ts'
import { lockSearchable } from '#server/documents/store/ingestion.ts'
import { renameDocument } from '#server/documents/store/library.ts'
import { readPages } from '#server/documents/store/pages.ts'
import { createEmbedder, type Embedder } from '#server/providers/embed.ts'
import { reindexDocument } from '#server/search/index/index-document.ts'
import { searchDocuments } from '#server/search/search.ts'
import { insertVectors, listPassagesWithoutVector } from '#server/search/vectors/vector-store.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { embedLibrary } from '#test/embed-library.ts'
import { jobRun } from '#test/job-run.ts'
import { addReadDocument } from '#test/library.ts'
import { startStubModel } from '#test/stub-model.ts'
import { createReindexJob, REINDEX_JOB } from './reindex-job.ts'

let db: TestDatabase
let embedder: Embedder
/** Texts that the provider was sent. */
let sent: string[] = []

beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

async function addEmbeddedDocument() {
  const person = await db.createPerson()
  const { documentId } = await addReadDocument(db.database, person, 'a.txt', ['the harbour light', 'ducks on a pond'])
  const stub = await startStubModel({ dims: 64 })
  onTestFinished(() => stub.stop())
  const remote = createEmbedder({ model: 'first', baseUrl: stub.baseUrl, apiKey: undefined })
  if (!remote) throw new Error('no embedder')
  embedder = {
    ...remote,
    embed: (texts, options) => {
      sent.push(...texts)
      return remote.embed(texts, options)
    },
  }
  await embed(documentId)
  sent = []
  return { person, documentId }
}

const embed = (documentId: string) => embedLibrary(db.database, embedder, documentId)
const reindex = (documentId: string) => createReindexJob(db.database)[REINDEX_JOB]?.run({ documentId }, jobRun())

const read = async (sql: string, documentId: string) => (await db.admin.query<object>(sql, [documentId])).rows

test('a renamed document is found by its new name, and its passages are not sent for vectors again', async () => {
  const { person, documentId } = await addEmbeddedDocument()
  const state = async () => ({
    vectors: await read('select ctid, * from passage_vectors where document_id = $1 order by passage', documentId),
    embedded: await read('select * from embedded_documents where document_id = $1', documentId),
    usage: await read('select * from vector_usage where document_id = $1', documentId),
    bytes: (await db.database.asUser(person, readOwnUsage)).file_bytes,
  })
  const before = await state()
  expect(before.vectors).toHaveLength(2)
  await db.database.asUser(person, (scope) => renameDocument(scope, documentId, 'swordfish.txt'))
  await reindex(documentId)
  await embed(documentId)
  expect(sent).toEqual([])
  const { bytes, ...rows } = await state()
  expect(before).toMatchObject(rows)
  // The name is indexed and counts too.
  expect(bytes - before.bytes).toBeLessThan(100)
  const { passages, trace } = await db.database.asUser(person, (scope) =>
    searchDocuments(scope, 'swordfish', { embedder }),
  )
  expect(passages[0]?.filename).toBe('swordfish.txt')
  expect(trace.notes).toEqual([])
})

test('passages that come out otherwise lose their vectors, and only they are sent again', async () => {
  const { person, documentId } = await addEmbeddedDocument()
  const bytes = async () => (await db.database.asUser(person, readOwnUsage)).file_bytes
  const before = await bytes()
  // As an older tokenizer might have cut them.
  await db.admin.query(`update passages set "end" = "end" - 5 where document_id = $1 and passage = 1`, [documentId])
  await db.admin.query(
    `insert into passages (document_id, owner, passage, page, "start", "end") values ($1, $2, 2, 2, 10, 15)`,
    [documentId, person.sub],
  )
  await reindex(documentId)
  expect(await read('select passage, "end" from passages where document_id = $1 order by 1', documentId)).toEqual([
    { passage: 0, end: 17 },
    { passage: 1, end: 15 },
  ])
  expect(await read('select passage from passage_vectors where document_id = $1', documentId)).toEqual([{ passage: 0 }])
  expect(await read('select from embedded_documents where document_id = $1', documentId)).toHaveLength(0)
  expect(before - (await bytes())).toBeGreaterThan(64 * 4)
  await embed(documentId)
  expect(sent).toEqual(['ducks on a pond'])
  expect(await read('select passages from embedded_documents where document_id = $1', documentId)).toEqual([
    { passages: 2 },
  ])
  expect(await bytes()).toBe(before)
})

test('vectors of an index that an upgrade has emptied are made again and count', async () => {
  const { person, documentId } = await addEmbeddedDocument()
  const bytes = async () => (await db.database.asUser(person, readOwnUsage)).file_bytes
  const before = await bytes()
  await db.admin.query('delete from document_index where document_id = $1', [documentId])
  await reindex(documentId)
  await embed(documentId)
  expect(sent).toHaveLength(2)
  expect(await bytes()).toBe(before)
})

test('vectors that arrive while a document is indexed again are stored after it', async () => {
  const { documentId } = await addEmbeddedDocument()
  const passages = await db.database.asService((scope) =>
    listPassagesWithoutVector(scope, { documentId, model: 'second', limit: 10 }),
  )
  const vectors = passages.map(() => new Float32Array(64).fill(1 / 8))
  const stored = await db.database.asService(async (scope) => {
    const document = await lockSearchable(scope, documentId)
    if (!document) throw new Error('not searchable')
    await reindexDocument(scope, document, readPages(scope, documentId))
    const storing = db.database.asService((other) => insertVectors(other, 'second', { passages, vectors }))
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await db.admin.query(waiting)).rowCount).toBe(1)
    return { storing }
  })
  expect(await stored.storing).toBe(true)
  expect(
    await read('select model, bytes > 0 as counts from vector_usage where document_id = $1 order by 1', documentId),
  ).toEqual([
    { model: 'first', counts: true },
    { model: 'second', counts: true },
  ])
  expect(
    await read(`select from passage_vectors where model = 'second' and document_id = $1`, documentId),
  ).toHaveLength(2)
})
