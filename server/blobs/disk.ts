/** Blobs as files `blobs/ab/ab…` under the data folder, written beside their place and renamed into it. */
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { type Readable } from 'node:stream'
import { AppError, codeOf } from '#server/base/errors.ts'
import { type BlobStore } from './store.ts'

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const missing = (id: string, cause: unknown) =>
  new AppError('not_found', 'These bytes are no longer there.', { cause, details: { blob: id } })

export function createDiskStore(dataDir: string): BlobStore {
  const root = path.join(dataDir, 'blobs')

  function fileOf(id: string): string {
    if (!ID.test(id)) throw missing(id, undefined)
    return path.join(root, id.slice(0, 2), id)
  }

  async function put(bytes: Readable): Promise<{ id: string; size: number }> {
    const id = randomUUID()
    const target = fileOf(id)
    const unfinished = `${target}.unfinished`
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
    const handle = await open(unfinished, 'wx', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
      const { size } = await handle.stat()
      await handle.close()
      await rename(unfinished, target)
      await syncFolder(path.dirname(target))
      return { id, size }
    } catch (error) {
      await handle.close().catch(() => undefined)
      await rm(unfinished, { force: true })
      throw error
    }
  }

  return {
    put,
    async open(id, range) {
      try {
        const file = fileOf(id)
        await stat(file)
        return createReadStream(file, range ?? {})
      } catch (error) {
        throw codeOf(error) === 'ENOENT' ? missing(id, error) : error
      }
    },
    async size(id) {
      try {
        return (await stat(fileOf(id))).size
      } catch (error) {
        throw codeOf(error) === 'ENOENT' ? missing(id, error) : error
      }
    },
    remove: (id) => rm(fileOf(id), { force: true }),
  }
}

/** The rename itself is durable only once its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
