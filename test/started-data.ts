/** A data folder of a server that has started once; a copy of it saves creating a database. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import { createDataDir, startAlcove } from './alcove.ts'

declare module 'vitest' {
  interface ProvidedContext {
    startedDataDir: string
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { dataDir, remove } = await createDataDir()
  const alcove = await startAlcove({ DATA_DIR: dataDir })
  await alcove.end()
  project.provide('startedDataDir', dataDir)
  return remove
}

/** A copy with only the test account. */
export async function copyStartedDataDir(): ReturnType<typeof createDataDir> {
  const folder = await createDataDir()
  // PostgreSQL's files keep their owner, which is not root.
  await promisify(execFile)('cp', ['-a', inject('startedDataDir'), folder.dataDir])
  return folder
}
