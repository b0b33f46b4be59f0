import { AppError } from '#server/base/errors.ts'
import {
  blobFile,
  FIRST_OF_NAMES,
  isBackupName,
  listBackups,
  readBlobs,
  readManifest,
  timeOfBackup,
} from './manifest.ts'
import type { Progress } from './progress.ts'
import type { Repository } from './repository.ts'

const DAY_MS = 24 * 60 * 60_000

/** Removes backups that a crash cut off. Their files of the blob store stay: the next run finds them. */
export async function removeLeftovers(repository: Repository): Promise<void> {
  const { target } = repository
  await target.removeUnfinished()
  const complete = new Set(await listBackups(repository))
  const leftovers = []
  for await (const { name } of target.list(FIRST_OF_NAMES)) {
    const [folder = ''] = name.split('/')
    if (isBackupName(folder) && !complete.has(folder)) leftovers.push(name)
  }
  for (const name of leftovers) await target.remove(name)
}

/** The newest one stays, however old it is. A removal that is cut off goes on with the next one. */
export async function removeOldBackups(repository: Repository, keepDays: number, progress: Progress): Promise<void> {
  const { target } = repository
  const names = await listBackups(repository)
  const oldest = Date.now() - keepDays * DAY_MS
  const old = names.slice(0, -1).filter((name) => timeOfBackup(name) < oldest)
  // Without its list a backup is unfinished, so that goes first.
  for (const name of old) await removeBackup(repository, name)

  const needed = await findNeeded(
    repository,
    names.filter((name) => !old.includes(name)),
    progress,
  )
  if (!needed) return
  const unneeded = []
  for await (const { name } of target.list('blobs/')) if (!needed.has(name)) unneeded.push(name)
  for (const name of unneeded) await target.remove(name)
  if (old.length > 0) progress(`${old.length} backups older than ${keepDays} days were removed.`)
}

/** Undefined where a list cannot be read, whose files are unknown. */
async function findNeeded(repository: Repository, names: readonly string[], progress: Progress) {
  const needed = new Set<string>()
  try {
    for (const name of names)
      for (const { id } of await readBlobs(repository, await readManifest(repository, name))) needed.add(blobFile(id))
    return needed
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    progress(`${error.message} No stored files are removed.`)
    return undefined
  }
}

async function removeBackup({ target }: Repository, backup: string): Promise<void> {
  const names = []
  for await (const { name } of target.list(`${backup}/`)) names.push(name)
  const isList = (name: string) => name.endsWith('/manifest')
  for (const name of names.sort((a, b) => Number(isList(b)) - Number(isList(a)))) await target.remove(name)
}
