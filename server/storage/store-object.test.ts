import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { createDiskStore } from '#server/blobs/disk.ts'
import { createS3Store } from '#server/blobs/s3.ts'
import { startFakeS3 } from '#test/fake-s3.ts'
import { putLimited } from './store-object.ts'

async function openDisk() {
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-put-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const names = async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  }
  return { store: createDiskStore(folder), names }
}

async function openS3() {
  const s3 = await startFakeS3()
  onTestFinished(() => s3.close())
  return { store: createS3Store(s3.options), names: () => Promise.resolve([...s3.keys()]) }
}

const waiting = () => new Readable({ read: () => undefined })

// An unhandled error would end the server.
test.each([
  ['disk', openDisk],
  ['S3', openS3],
])('an upload from a sender that aborts is rejected on %s', async (_, open) => {
  const { store, names } = await open()
  const gone = waiting().on('error', () => undefined)
  gone.destroy(new Error('aborted'))
  await expect(putLimited(store, gone, { maxBytes: 10 })).rejects.toMatchObject({ code: 'InvalidRequest' })
  const going = waiting()
  const stored = putLimited(store, going, { maxBytes: 10 })
  going.destroy(new Error('aborted'))
  await expect(stored).rejects.toMatchObject({ code: 'InvalidRequest' })
  expect(await names()).toEqual([])
})
