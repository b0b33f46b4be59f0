import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError, codeOf } from '#server/base/errors.ts'
import { flushFolder, ignoreMissing } from '#server/base/durable-files.ts'
import type { BackupTarget, StoredFile } from './target.ts'

const UNFINISHED = '.unfinished'
const CHUNK_BYTES = 64 * 1024

/** Creates missing folders and makes their names durable. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first !== undefined) await flushFolder(path.dirname(first))
}

export function openFolderTarget(folder: string): BackupTarget {
  const fileOf = (name: string) => path.join(folder, name)

  async function* files(below: string, prefix: string): AsyncGenerator<StoredFile> {
    const entries = (await readdir(fileOf(below), { withFileTypes: true }).catch(ignoreMissing)) ?? []
    for (const entry of entries) {
      const name = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) {
        if (name.startsWith(prefix) || prefix.startsWith(`${name}/`)) yield* files(name, prefix)
      } else if (entry.isFile() && name.startsWith(prefix)) {
        const found = await stat(fileOf(name)).catch(ignoreMissing)
        if (found) yield { name, bytes: found.size }
      }
    }
  }

  async function removeEmptyFolders(below: string): Promise<void> {
    if (below === '.') return
    try {
      await rmdir(fileOf(below))
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) return
      ignoreMissing(error)
    }
    await removeEmptyFolders(path.dirname(below))
  }

  return {
    address: folder,
    async write(name, bytes) {
      const file = fileOf(name)
      await makeFolder(path.dirname(file))
      const output = createWriteStream(`${file}${UNFINISHED}`, { mode: 0o600, flush: true, highWaterMark: CHUNK_BYTES })
      await pipeline(bytes, output)
      await rename(`${file}${UNFINISHED}`, file)
      await flushFolder(path.dirname(file))
      return output.bytesWritten
    },
    async read(name) {
      try {
        await stat(fileOf(name))
        return createReadStream(fileOf(name), { highWaterMark: CHUNK_BYTES })
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error
        throw new AppError('not_found', `"${fileOf(name)}" is missing.`, { cause: error })
      }
    },
    async *list(prefix) {
      for await (const file of files('', prefix)) if (!file.name.endsWith(UNFINISHED)) yield file
    },
    async remove(name) {
      await rm(fileOf(name), { force: true })
      await removeEmptyFolders(path.dirname(name))
    },
    async removeUnfinished() {
      for await (const { name } of files('', '')) if (name.endsWith(UNFINISHED)) await rm(fileOf(name), { force: true })
    },
  }
}
