import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import { insertDocument } from '#server/documents/store/library.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { sweepBlobs } from './blob-cleanup.ts'

let test_: TestDatabase
let dataDir: string

beforeAll(async () => {
  test_ = await createTestDatabase()
  dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-sweep-'))
})

afterAll(async () => {
  await test_.drop()
  await rm(dataDir, { recursive: true })
})

const fileOf = (id: string) => path.join(dataDir, 'blobs', id.slice(0, 2), id)
const twoDaysAgo = () => new Date(Date.now() - 2 * 24 * 60 * 60_000)

test('removes old bytes that nothing names, and no others', async () => {
  const blobs = createDiskStore(dataDir)
  const put = async (isOld: boolean) => {
    const { id } = await blobs.put(Readable.from(['bytes']))
    if (isOld) await utimes(fileOf(id), twoDaysAgo(), twoDaysAgo())
    return id
  }
  const person = await test_.createPerson()
  const [orphan, ofDocument, ofObject, arriving] = [await put(true), await put(true), await put(true), await put(false)]
  await test_.database.asService((scope) =>
    insertDocument(scope, {
      owner: person.sub,
      name: 'lamp.txt',
      mimetype: UPLOAD_TYPES.txt,
      size: 5,
      path: ofDocument,
      sha256: 'lamp',
    }),
  )
  await test_.admin.query(
    `insert into storage.objects (bucket_id, name, owner, blob_id) values ('documents', $1::uuid || '/lamp.txt', $1, $2)`,
    [person.sub, ofObject],
  )
  const unfinished = `${fileOf(orphan)}.unfinished`
  await writeFile(unfinished, 'half')
  await utimes(unfinished, twoDaysAgo(), twoDaysAgo())

  await sweepBlobs({ database: test_.database, blobs })

  const left = (await readdir(path.join(dataDir, 'blobs'), { recursive: true })).filter((name) => name.length > 2)
  expect(left.map((name) => path.basename(name)).toSorted()).toEqual([ofDocument, ofObject, arriving].toSorted())
})

test('asks every column that names bytes', async () => {
  const { rows } = await test_.admin.query<{ name: string }>(
    `select table_schema || '.' || table_name || '.' || column_name as name from information_schema.columns
     where column_name ~ '^(path|blob|blob_id|blob_path)$' and table_schema in ('public', 'storage', 'auth', 'realtime')
     order by 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual([
    'public.discarded_blobs.path',
    'public.documents.path',
    'storage.discarded_blobs.blob_id',
    'storage.objects.blob_id',
  ])
})
