/** A file in the bucket `documents` is a document like an upload, for as long as it exists. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { addStoredFile } from '#server/documents/upload.ts'
import { startStorageService, type StorageTestService } from './storage-service.ts'

let service: StorageTestService
let blobs: BlobStore
const asked: unknown[] = []
const plain = { contentType: 'text/plain' }

beforeAll(async () => {
  service = await startStorageService({
    onDocumentUpload: ({ owner, key, open }) =>
      addStoredFile(
        { owner, objectName: key, open },
        {
          database: service.db.database,
          blobs,
          log: createLog('silent'),
          jobs: { enqueue: (_name, request) => void asked.push(request.data) },
        },
      ),
  })
  blobs = service.blobs
})
afterAll(() => service.close())

async function documentsOf(owner: string) {
  const { rows } = await service.db.admin.query<{ id: string; filename: string; size: number }>(
    'select id, filename, size from documents where owner = $1 order by uploaded_at',
    [owner],
  )
  return rows
}

test('it is read as an upload is, follows its file, and goes with it', async () => {
  const person = await service.db.createPerson()
  const files = (await service.clientOf(person)).from('documents')
  expect((await files.upload(`${person.sub}/notes/lamp.txt`, 'The lamp.', plain)).error).toBeNull()
  const [document] = await documentsOf(person.sub)
  expect(document).toMatchObject({ filename: 'lamp.txt', size: 9 })
  expect(asked).toContainEqual({ documentId: document?.id })

  await files.update(`${person.sub}/notes/lamp.txt`, 'Another lamp.', plain)
  expect(await documentsOf(person.sub)).toMatchObject([{ filename: 'lamp.txt', size: 13 }])
  await files.move(`${person.sub}/notes/lamp.txt`, `${person.sub}/lamp.txt`)
  await files.remove([`${person.sub}/lamp.txt`])
  expect(await documentsOf(person.sub)).toEqual([])
})

test('what no upload would take is refused, and a second user puts nothing into somebody’s library', async () => {
  const [person, stranger] = [await service.db.createPerson(), await service.db.createPerson()]
  const files = (await service.clientOf(person)).from('documents')
  const refused = await files.upload(`${person.sub}/a.txt`, new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1]), plain)
  expect(refused.error).not.toBeNull()
  const foreign = (await service.clientOf(stranger)).from('documents')
  expect((await foreign.upload(`${person.sub}/b.txt`, 'not mine', plain)).error).not.toBeNull()
  expect((await foreign.remove([`${person.sub}/b.txt`])).data).toEqual([])
  expect(await documentsOf(person.sub)).toEqual([])
})
