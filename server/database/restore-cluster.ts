/**
 * Sets right what copies and backups change in the folder of the embedded database: owners, modes and empty folders. Nothing
 * outside of that folder is changed, and no link is followed. Synchronous: a cluster has about a thousand files, each of which
 * would otherwise cost a turn of the thread pool.
 */
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import path from 'node:path'
import { AppError, codeOf, messageOf } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Owner } from '#server/base/private-files.ts'
import { shellCommand } from '#server/base/shell-command.ts'

/** Folders of a cluster that may be empty, which git and some backup programs leave out. Parents come first. */
const EMPTY_FOLDERS = [
  'pg_commit_ts', 'pg_dynshmem', 'pg_logical', 'pg_logical/mappings', 'pg_logical/snapshots', 'pg_notify', 'pg_replslot',
  'pg_serial', 'pg_snapshots', 'pg_stat', 'pg_stat_tmp', 'pg_subtrans', 'pg_tblspc', 'pg_twophase', 'pg_wal/archive_status',
  'pg_wal/summaries',
] // prettier-ignore

/** PostgreSQL accepts no others; 750 is for a group that makes backups. */
const CLUSTER_MODES: ReadonlySet<number> = new Set([0o700, 0o750])

export function findEntry(file: string): Stats | undefined {
  try {
    return lstatSync(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

export const refuse = (sentence: string, cause?: unknown): AppError => new AppError('startup', sentence, { cause })

export interface ClusterRestore {
  readonly clusterDir: string
  /** The user that PostgreSQL runs as; undefined on Windows, which has no such owners and modes. */
  readonly owner: Owner | undefined
  /** Major version of our PostgreSQL. */
  readonly version: string
  readonly log: Log
}

/** @throws AppError `startup` with the command that sets right what this user may not change */
export function restoreCluster({ clusterDir, owner, version, log }: ClusterRestore): void {
  const found = findEntry(clusterDir)
  if (found === undefined) return
  // A link is the operator's arrangement, such as another disk.
  if (found.isSymbolicLink()) {
    if (existsSync(clusterDir)) return
    throw refuse(`"${clusterDir}" is a link to nothing: mount what it leads to and start again.`)
  }
  requireCluster(clusterDir, found, version)
  try {
    const changed = [
      ...(owner === undefined ? [] : takeFolder(clusterDir, clusterDir, owner)),
      ...addEmptyFolders(clusterDir, owner),
    ]
    if (changed.length > 0) {
      log.warn(
        { folder: clusterDir, changed: changed.length, first: changed[0] },
        'the database was restored from a copy',
      )
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    const command = owner && shellCommand('sudo', 'chown', '-R', `${owner.uid}:${owner.gid}`, clusterDir)
    throw refuse(
      `The folder of the database cannot be set right (${messageOf(error)})${command === undefined ? '' : `: run ${command} and start again`}.`,
      error,
    )
  }
}

function requireCluster(clusterDir: string, found: Stats, version: string): void {
  const moveAway = shellCommand('mv', clusterDir, `${clusterDir}.old`)
  if (!found.isDirectory()) {
    throw refuse(
      `"${clusterDir}" is not a folder, but the database belongs into one: run ${moveAway} and restore the folder from a backup.`,
    )
  }
  const versionFile = path.join(clusterDir, 'PG_VERSION')
  let written: string
  try {
    written = readFileSync(versionFile, 'utf8').trim()
  } catch (error) {
    if (codeOf(error) === 'EACCES') return
    throw refuse(
      `"${clusterDir}" holds no database, since its file PG_VERSION is missing: restore the folder from a backup, or run ${moveAway} to begin with an empty database.`,
      error,
    )
  }
  if (written !== version) {
    // A restore wants the whole data folder empty.
    const dataDir = path.dirname(clusterDir)
    throw refuse(
      `The database in "${clusterDir}" was written by PostgreSQL ${written}, but this Alcove has PostgreSQL ${version}: start the Alcove that wrote it, make a backup with it, and restore that with this one after ${shellCommand('mv', dataDir, `${dataDir}.old`)}. Nothing was changed.`,
    )
  }
}

function requireOwner(file: string, found: Stats, { clusterDir, owner }: { clusterDir: string; owner: Owner }): void {
  const { uid, nlink } = found
  if (uid === owner.uid) return
  const command = shellCommand('chown', '-R', `${owner.uid}:${owner.gid}`, clusterDir)
  if (process.getuid?.() !== 0) {
    throw refuse(
      `"${file}" belongs to another user (${uid}), but PostgreSQL runs as this one: run sudo ${command} and start again.`,
    )
  }
  // Another user might have exchanged the folder, or linked a file of the system into it.
  const isOurs = file === clusterDir ? isClosed(path.dirname(clusterDir)) : !found.isFile() || nlink === 1
  if (!isOurs) {
    throw refuse(
      `"${file}" belongs to the user ${uid}, who could exchange it, but PostgreSQL runs as ${owner.uid}: if the folder is yours, run ${command} and start again.`,
    )
  }
}

/** Whether root alone may exchange what is in the folder. */
export function isClosed(folder: string): boolean {
  const { uid, mode } = statSync(folder)
  return uid === 0 && (mode & 0o022) === 0
}

/** Goes from the top down: other users cannot reach what is in a folder that has been closed. @returns what was changed */
function takeFolder(clusterDir: string, folder: string, owner: Owner): string[] {
  const changed = takeEntry(folder, lstatSync(folder), { clusterDir, owner }) ? [folder] : []
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name)
    const entry = findEntry(file)
    if (entry?.isDirectory()) changed.push(...takeFolder(clusterDir, file, owner))
    else if (entry?.isFile() && takeEntry(file, entry, { clusterDir, owner })) changed.push(file)
  }
  return changed
}

function takeEntry(file: string, found: Stats, { clusterDir, owner }: { clusterDir: string; owner: Owner }): boolean {
  const isFolder = found.isDirectory()
  requireOwner(file, found, { clusterDir, owner })
  const isOwned = found.uid === owner.uid
  if (!isOwned) lchownSync(file, owner.uid, owner.gid)
  const mode = found.mode & 0o7777
  const right =
    file === clusterDir ? (CLUSTER_MODES.has(mode) ? mode : 0o700) : (mode & 0o777) | (isFolder ? 0o700 : 0o600)
  if (right !== mode) chmodSync(file, right)
  return !isOwned || right !== mode
}

function addEmptyFolders(clusterDir: string, owner: Owner | undefined): string[] {
  const added = []
  for (const name of EMPTY_FOLDERS) {
    const folder = path.join(clusterDir, name)
    if (!findEntry(path.dirname(folder))?.isDirectory()) continue
    const found = findEntry(folder)
    if (found?.isDirectory() || found?.isSymbolicLink()) continue
    if (found !== undefined && (!found.isFile() || found.size > 0)) {
      throw refuse(
        `"${folder}" is not a folder, as the database needs there: run ${shellCommand('mv', folder, path.join(path.dirname(clusterDir), `${path.basename(folder)}.old`))} and start again.`,
      )
    }
    if (found !== undefined) rmSync(folder)
    mkdirSync(folder, { mode: 0o700 })
    if (owner && process.getuid?.() === 0) lchownSync(folder, owner.uid, owner.gid)
    added.push(folder)
  }
  return added
}
