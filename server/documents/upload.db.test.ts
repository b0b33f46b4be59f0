import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { DocumentRow } from '#contract/document.ts'
import { createLog } from '#server/base/log.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { isConnectionFailure } from '#server/database/errors.ts'
import type { Database } from '#server/database/scope.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { loseCommitOf } from '#test/lost-commit.ts'
import { createSpace, join, remove } from '#test/spaces.ts'
import { receiveUpload } from './upload.ts'

let db: TestDatabase

beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

const beginPart = (name: string): string =>
  `--edge\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\n\r\n`

test('a file that cannot be stored while the next one arrives fails its upload, and nothing else', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-upload-'))
  const disk = createDiskStore(dataDir)
  await rm(dataDir, { recursive: true })
  await writeFile(dataDir, 'no folder')
  onTestFinished(() => rm(dataDir))
  const failed = Promise.withResolvers<undefined>()
  const blobs: BlobStore = { ...disk, put: (bytes) => disk.put(bytes).finally(() => failed.resolve(undefined)) }
  const unhandled: unknown[] = []
  const hear = (error: unknown): number => unhandled.push(error)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(encoder.encode(`${beginPart('first.txt')}Bees\r\n${beginPart('second.txt')}`))
      await failed.promise
      for (let turn = 0; turn < 5; turn += 1) await nextTurn()
      controller.enqueue(encoder.encode('Wasps\r\n--edge--\r\n'))
      controller.close()
    },
  })
  const upload = receiveUpload(
    { claims: await db.createPerson(), contentType: 'multipart/form-data; boundary=edge', body },
    { database: db.database, blobs, jobs: { enqueue: () => undefined }, log: createLog('silent') },
  )
  await expect(upload).rejects.toMatchObject({ code: 'ENOTDIR' })
  expect(unhandled).toEqual([])
})

test.each([undefined, 'a version'])(
  'a person who is removed while the bytes arrive adds nothing to a space (%s)',
  async (version) => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-upload-'))
    onTestFinished(() => rm(dataDir, { recursive: true }))
    const [owner, editor] = await Promise.all([db.createPerson(), db.createPerson()])
    const spaceId = await createSpace(db, owner)
    await join(db, owner, spaceId, editor, 'editor')
    const parts = {
      database: db.database,
      blobs: createDiskStore(dataDir),
      jobs: { enqueue: () => undefined },
      log: createLog('silent'),
    }
    const encoder = new TextEncoder()
    const upload = (content: string, meanwhile: () => Promise<unknown>, versionOf?: DocumentRow) =>
      receiveUpload(
        {
          claims: editor,
          contentType: 'multipart/form-data; boundary=edge',
          spaceId,
          ...(versionOf ? { versionOf } : {}),
          body: new ReadableStream<Uint8Array>({
            async start(controller) {
              controller.enqueue(encoder.encode(`${beginPart('first.txt')}${content}`))
              for (let turn = 0; turn < 50; turn += 1) await nextTurn()
              await meanwhile()
              controller.enqueue(encoder.encode('\r\n--edge--\r\n'))
              controller.close()
            },
          }),
        },
        parts,
      )
    const { documents } = await upload('Bees', () => Promise.resolve())
    const late = upload(
      'Wasps',
      () => remove(db, owner, spaceId, editor),
      version === undefined ? undefined : documents[0],
    )
    await expect(late).rejects.toMatchObject({ code: 'not_found' })
    const { rows } = await db.admin.query('select filename from documents where space_id = $1', [spaceId])
    expect(rows).toHaveLength(1)
  },
)

test.each([undefined, 'a version'])(
  'bytes stay where the connection breaks while PostgreSQL commits their row (%s)',
  async (version) => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-upload-'))
    onTestFinished(() => rm(dataDir, { recursive: true }))
    const blobs = createDiskStore(dataDir)
    const claims = await db.createPerson()
    const upload = (content: string, database: Database, versionOf?: DocumentRow) =>
      receiveUpload(
        {
          claims,
          contentType: 'multipart/form-data; boundary=edge',
          ...(versionOf ? { versionOf } : {}),
          body: new Blob([`${beginPart('notes.txt')}${content}\r\n--edge--\r\n`]).stream(),
        },
        { database, blobs, jobs: { enqueue: () => undefined }, log: createLog('silent') },
      )
    const { documents } = await upload('Bees', db.database)
    const { database, finishCommit } = await loseCommitOf(db, 'documents')
    const broken = upload('Wasps', database, version === undefined ? undefined : documents[0])
    await expect(broken).rejects.toSatisfy(isConnectionFailure)
    await finishCommit()
    const { rows } = await db.admin.query<{ path: string }>('select path from documents where owner = $1', [claims.sub])
    const sizes = await Promise.all(rows.map((row) => blobs.size(row.path)))
    expect(sizes.toSorted()).toEqual(['Bees'.length, 'Wasps'.length])
  },
)
