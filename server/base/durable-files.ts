/** Files whose names survive a power cut, and folders whose content changes while they are read. */
import { open } from 'node:fs/promises'
import { codeOf } from '#server/base/errors.ts'

/** A rename is durable only once its folder is flushed. */
export async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function ignoreMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}
