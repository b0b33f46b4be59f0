/** Search by meaning with a model that runs in the server. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { hasModelLibrary, openLocalEmbedder } from '#server/providers/local-model/local-embedder.ts'
import { searchDocuments } from '#server/search/search.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { embedLibrary } from '#test/embed-library.ts'
import { addReadDocument } from '#test/library.ts'
import { writeTinyModel } from '#test/tiny-model.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

test.skipIf(!hasModelLibrary())('a question finds the passage that means the same', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-model-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const words = { granny: [1, 0, 0], dwelling: [1, 0, 0], harbour: [0, 1, 0] }
  await writeTinyModel(folder, { words, unknown: [0, 0, 0.001] })
  const embedder = await openLocalEmbedder(folder)
  onTestFinished(() => embedder.stop())
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'a.txt', ['An accessory dwelling needs a permit.', 'The harbour light.'])
  await embedLibrary(db.database, embedder)
  const search = (using: typeof embedder | null) =>
    db.database.asUser(person, (scope) => searchDocuments(scope, 'granny', { embedder: using }))
  expect((await search(null)).passages).toEqual([])
  const { passages, trace } = await search(embedder)
  expect(passages[0]?.text).toContain('accessory dwelling')
  expect(trace.notes).toEqual([])
})
