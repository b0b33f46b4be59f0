import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { codeOf } from '#server/base/errors.ts'
import { flushFolder, ignoreMissing } from '#server/base/durable-files.ts'
import { streamFile } from './file-stream.ts'
import { isBlobId, missingBlob, requireBlobId } from './id.ts'
import type { BlobStore } from './store.ts'

const UNFINISHED = '.unfinished'
const WRITE_BUFFER_BYTES = 1024 * 1024
/** Larger than the default: each chunk costs a turn of the thread pool and of a web stream. */
const READ_CHUNK_BYTES = 256 * 1024

export function createDiskStore(dataDir: string): BlobStore {
  const root = path.join(dataDir, 'blobs')

  function fileOf(id: string): string {
    return path.join(root, requireBlobId(id).slice(0, 2), id)
  }

  async function put(bytes: Readable, given?: string): Promise<{ id: string; size: number }> {
    const id = given ?? randomUUID()
    const target = fileOf(id)
    const unfinished = `${target}${UNFINISHED}`
    // A restore that was cut off may have left it.
    if (given !== undefined) await rm(unfinished, { force: true })
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
    try {
      const file = createWriteStream(unfinished, {
        flags: 'wx',
        mode: 0o600,
        flush: true,
        highWaterMark: WRITE_BUFFER_BYTES,
      })
      await pipeline(bytes, file)
      await rename(unfinished, target)
      await flushFolder(path.dirname(target))
      return { id, size: file.bytesWritten }
    } catch (error) {
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
        return createReadStream(file, { ...range, highWaterMark: READ_CHUNK_BYTES })
      } catch (error) {
        throw codeOf(error) === 'ENOENT' ? missingBlob(id, error) : error
      }
    },
    async stream(id, range) {
      try {
        return streamFile(await open(fileOf(id), 'r'), range)
      } catch (error) {
        throw codeOf(error) === 'ENOENT' ? missingBlob(id, error) : error
      }
    },
    async size(id) {
      try {
        return (await stat(fileOf(id))).size
      } catch (error) {
        throw codeOf(error) === 'ENOENT' ? missingBlob(id, error) : error
      }
    },
    remove: (id) => removeFiles(fileOf(id)),
    async *list() {
      for (const folder of await filesOf(root)) {
        for (const name of await filesOf(path.join(root, folder))) {
          const id = name.replace(UNFINISHED, '')
          if (!isBlobId(id)) continue
          const found = await stat(path.join(root, folder, name)).catch(ignoreMissing)
          if (found) yield { id, modifiedAt: found.mtime }
        }
      }
    },
  }
}

async function removeFiles(file: string): Promise<void> {
  await rm(file, { force: true })
  await rm(`${file}${UNFINISHED}`, { force: true })
}

const filesOf = async (folder: string): Promise<string[]> => (await readdir(folder).catch(ignoreMissing)) ?? []
