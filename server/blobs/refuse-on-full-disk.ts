import { statfs } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import { AppError } from '#server/base/errors.ts'
import type { BlobStore } from './store.ts'

export async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/**
 * Refuses new bytes while the disk of the folder has less room than the margin. PostgreSQL stops when its log finds no room;
 * until then what is there stays readable, and questions are answered.
 */
export function refuseOnFullDisk(
  store: BlobStore,
  { folder, marginBytes }: { readonly folder: string; readonly marginBytes: number },
): BlobStore {
  return {
    ...store,
    async put(bytes, id) {
      if ((await readFreeBytes(folder)) >= marginBytes) return store.put(bytes, id)
      // Bytes that nothing reads would hold up the rest of the request, and its answer.
      bytes.resume()
      await finished(bytes, { writable: false })
      throw new AppError(
        'too_large',
        'The disk of this server is nearly full, so no file can be added. Everything that is there can be read; please tell its operator.',
      )
    },
  }
}
