import { spawnSync } from 'node:child_process'
import { accessSync, chmodSync, lchownSync, readdirSync, rmSync, type Stats, statSync } from 'node:fs'
import { access, constants, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { AppError, codeOf, messageOf } from '#server/base/errors.ts'
import { takeCommand } from '#server/base/private-files.ts'
import { shellCommand } from '#server/base/shell-command.ts'
import { findEntry, isClosed } from '#server/database/restore-cluster.ts'
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
      `DATA_DIR is "${dataDir}", but it wants a folder that this user may write to (${messageOf(error)})${suggestAccess(dataDir, error)}.`,
      { cause: error },
    )
  }
}

/** Holds the name of the backup from the first change of a restore to its end. */
export const RESTORE_MARKER = 'restore.unfinished'

/** @throws AppError `startup`: what is in the folder is not complete */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (findEntry(path.join(dataDir, RESTORE_MARKER)) === undefined) return
  throw new AppError(
    'startup',
    `A restore into DATA_DIR "${dataDir}" was cut off: run it again with the same backup, and it goes on there.`,
  )
}

/** The command that lets this user write, if the folder itself is what refuses. */
function suggestAccess(dataDir: string, error: unknown): string {
  if (codeOf(error) !== 'EACCES' && codeOf(error) !== 'EPERM') return ''
  try {
    const command =
      statSync(dataDir).uid === process.getuid?.() ? shellCommand('chmod', 'u+rwx', dataDir) : takeCommand(dataDir)
    return `: run ${command} and start again`
  } catch {
    // A folder above is closed, whose command is not ours to name.
    return ''
  }
}

/** Whether the embedded database of an installation is in the folder. */
const holdsInstallation = (dataDir: string): boolean =>
  findEntry(path.join(dataDir, 'secrets.json')) !== undefined && findEntry(path.join(dataDir, 'postgres')) !== undefined

/** Users of another machine have none here. */
function hasAccount(uid: number): boolean {
  const { error, status } = spawnSync('id', ['-nu', String(uid)], { stdio: 'ignore' })
  return error !== undefined || status === 0
}

/**
 * Sets right the owners and modes that copies and backups leave, in a folder that plainly is one of ours. The folder of the
 * database follows once it is known which user PostgreSQL runs as.
 *
 * @throws AppError `startup` with the command that sets right what this user may not change
 */
export function restoreDataFolder(dataDir: string, { hasBlobs }: { hasBlobs: boolean }): void {
  const own = process.getuid?.()
  const found = findEntry(dataDir)
  if (own === undefined || !found?.isDirectory() || !holdsInstallation(dataDir)) return
  const isOurs = found.uid === own || (own === 0 && !hasAccount(found.uid))
  if (found.uid !== own && isOurs) lchownSync(dataDir, own, process.getgid?.() ?? 0)
  if (isOurs && (found.mode & 0o022) !== 0) chmodSync(dataDir, found.mode & 0o7755)
  const isOursAlone = own === 0 ? isClosed(dataDir) : found.uid === own
  for (const name of ['secrets.json', 'postgres.log', 'postgres.log.1']) {
    const file = path.join(dataDir, name)
    const entry = findEntry(file)
    if (own === 0 && isOursAlone && entry?.isFile() && entry.uid !== 0 && entry.nlink === 1) lchownSync(file, 0, 0)
    else if (own !== 0 && name !== 'secrets.json' && entry?.isFile() && entry.uid !== own)
      throw refuseForeign(file, dataDir)
  }
  if (hasBlobs) restoreBlobs(path.join(dataDir, 'blobs'), own, isOursAlone)
}

const refuseForeign = (file: string, dataDir: string): AppError =>
  new AppError('startup', `"${file}" belongs to another user: run ${takeCommand(dataDir)} and start again.`)

function restoreBlobs(folder: string, own: number, isOursAlone: boolean): void {
  const found = findEntry(folder)
  // A link is the operator's arrangement, such as another disk.
  if (found === undefined || found.isSymbolicLink()) return
  if (!found.isDirectory()) {
    if (found.isFile() && found.size === 0) return rmSync(folder)
    throw new AppError(
      'startup',
      `"${folder}" is not a folder, but the uploaded files belong into one: run ${shellCommand('mv', folder, `${folder}.old`)} and start again.`,
    )
  }
  if (own === 0 && isOursAlone && found.uid !== 0) lchownSync(folder, 0, 0)
  makeUsable(folder, found, own)
  if ((found.uid === own || (own === 0 && isOursAlone)) && (found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
  for (const name of readdirSync(folder)) {
    const inner = path.join(folder, name)
    const entry = findEntry(inner)
    if (/^[\da-f]{2}$/.test(name) && entry?.isDirectory()) makeUsable(inner, entry, own)
  }
}

function makeUsable(folder: string, { uid, mode }: Stats, own: number): void {
  if (uid === own && (mode & 0o700) !== 0o700) chmodSync(folder, (mode & 0o7777) | 0o700)
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw codeOf(error) === 'EACCES' ? refuseForeign(folder, folder) : error
  }
}

const claimIn = (dataDir: string): string => path.join(dataDir, 'server.pid')

/** Process of a claim that is alive. */
async function findLiving(claim: string): Promise<string | undefined> {
  const [pid, startedAt] = claim.split(' ')
  return pid && startedAt && (await startOfProcess(Number(pid))) === startedAt ? pid : undefined
}

/** Whether a server, or another program of ours, has claimed the folder and runs. */
export async function isInUse(dataDir: string): Promise<boolean> {
  try {
    return (await findLiving(await readFile(claimIn(dataDir), 'utf8'))) !== undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

async function refuseLiving(dataDir: string, claim: string): Promise<void> {
  const pid = await findLiving(claim)
  if (pid === undefined) return
  throw new AppError(
    'startup',
    `DATA_DIR "${dataDir}" is in use by another Alcove (process ${pid}). Stop that one first, or choose another folder.`,
  )
}

/** Two servers would damage an embedded database. @returns the release @throws AppError `startup` while in use */
export async function claimDataFolder(dataDir: string): Promise<() => Promise<void>> {
  const file = claimIn(dataDir)
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
    throw new AppError(
      'startup',
      `DATA_DIR "${dataDir}" cannot be written to: ${reason}${suggestAccess(dataDir, error)}.`,
      {
        cause: error,
      },
    )
  }
  return () => rm(file, { force: true })
}
