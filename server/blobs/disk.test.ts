import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createDiskStore } from './disk.ts'

async function temporaryStore() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-blobs-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const files = async () =>
    (await readdir(dataDir, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
  return { store: createDiskStore(dataDir), files }
}

test('gives back what was put, whole and in part', async () => {
  const { store } = await temporaryStore()
  const { id, size } = await store.put(Readable.from(['hello ', 'world']))
  expect(size).toBe(11)
  expect(await store.size(id)).toBe(11)
  expect(await text(await store.open(id))).toBe('hello world')
  expect(await text(await store.open(id, { start: 6, end: 8 }))).toBe('wor')
})

test('keeps nothing of a stream that breaks off', async () => {
  const { store, files } = await temporaryStore()
  const broken = Readable.from(
    (async function* () {
      yield 'half'
      throw new Error('cut')
    })(),
  )
  await expect(store.put(broken)).rejects.toThrow('cut')
  expect(await files()).toEqual([])
})

test('removes, also what is not there', async () => {
  const { store, files } = await temporaryStore()
  const { id } = await store.put(Readable.from(['x']))
  await store.remove(id)
  await store.remove(id)
  await store.remove(randomUUID())
  expect(await files()).toEqual([])
  await expect(store.open(id)).rejects.toMatchObject({ code: 'not_found' })
  await expect(store.size(id)).rejects.toMatchObject({ code: 'not_found' })
})

test('takes no path for an id', async () => {
  const { store } = await temporaryStore()
  for (const id of ['../../etc/passwd', '/etc/passwd', '', 'a'.repeat(36)]) {
    await expect(store.open(id)).rejects.toMatchObject({ code: 'not_found' })
    expect(() => store.remove(id)).toThrow()
  }
})
