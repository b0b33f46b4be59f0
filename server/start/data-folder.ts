import { access, constants, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { AppError, codeOf, messageOf } from '#server/base/errors.ts'
import { startOfProcess } from '#server/base/process-state.ts'

/** @throws AppError `startup` if the folder cannot be created or written to */
export async function openDataFolder(dataDir: string): Promise<void> {
  try {
    // As root, PostgreSQL runs as another user, who must traverse this folder; the folders in it have their own modes.
    await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
    await access(dataDir, constants.W_OK)
  } catch (error) {
    throw new AppError(
      'startup',
      `DATA_DIR is "${dataDir}", but it wants a folder that this user may write to (${messageOf(error)}).`,
      { cause: error },
    )
  }
}

async function refuseLiving(dataDir: string, claim: string): Promise<void> {
  const [pid, startedAt] = claim.split(' ')
  if (!pid || !startedAt || (await startOfProcess(Number(pid))) !== startedAt) return
  throw new AppError(
    'startup',
    `DATA_DIR "${dataDir}" is in use by another Alcove (process ${pid}). Stop that one first, or choose another folder.`,
  )
}

/** Two servers would damage an embedded database. @returns the release @throws AppError `startup` while in use */
export async function claimDataFolder(dataDir: string): Promise<() => Promise<void>> {
  const file = path.join(dataDir, 'server.pid')
  const claim = `${process.pid} ${(await startOfProcess(process.pid)) ?? ''}`
  const write = () => writeFile(file, claim, { mode: 0o600, flag: 'wx' })
  try {
    await write().catch(async (error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
      // Remove only the claim of a dead server: of two that start at once, one finds the claim of the other.
      await refuseLiving(dataDir, await readFile(file, 'utf8'))
      await rm(file, { force: true })
      await write()
    })
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = codeOf(error) === 'ENOSPC' ? 'the disk that holds it is full' : messageOf(error)
    throw new AppError('startup', `DATA_DIR "${dataDir}" cannot be written to: ${reason}.`, { cause: error })
  }
  return () => rm(file, { force: true })
}
