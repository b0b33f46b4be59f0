/** The commands `backup` and `restore`, over the settings of the server and whether or not one is running. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import {
  deriveAuthenticatorPassword,
  restoreSecretsInDatabase,
  restoreSecretsInFolder,
} from '#server/access/secrets.ts'
import { backUp, type BackUpSummary, isAnotherRunning } from '#server/backup/back-up.ts'
import type { Progress } from '#server/backup/progress.ts'
import { findBackup, type FoundBackup, restore, type RestoreSummary, splitAddress } from '#server/backup/restore.ts'
import { isFilled, markDatabase, requireEmptyStore, unmarkDatabase } from '#server/backup/restore-place.ts'
import { AppError, codeOf } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { lowerOwnPriority } from '#server/base/lower-priority.ts'
import { openBlobStore } from '#server/blobs/open-blob-store.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import type { Config } from '#server/config.ts'
import { startEmbedded } from '#server/database/embedded.ts'
import { rejectRoleBoundByRls } from './connect.ts'
import { openBackups } from './open-backups.ts'
import { claimDataFolder, openDataFolder, RESTORE_MARKER } from './data-folder.ts'
import { openInstallation } from './open-installation.ts'

interface CommandContext {
  readonly config: Config
  readonly log: Log
  readonly progress: Progress
  readonly version: string
}

function refuseProject({ SUPABASE_URL }: Config): void {
  if (SUPABASE_URL !== undefined)
    throw new AppError(
      'startup',
      'SUPABASE_URL is set, and that project makes backups of its database itself: this command is for a PostgreSQL of our own.',
    )
}

/** EX_TEMPFAIL of sysexits.h: another backup runs, nothing failed. */
export const EXIT_ANOTHER_RUNS = 75

export const exitCodeOf = (error: unknown): number => (isAnotherRunning(error) ? EXIT_ANOTHER_RUNS : 1)

export async function runBackup(address: string, context: CommandContext): Promise<BackUpSummary> {
  const { config, progress, version } = context
  refuseProject(config)
  // Answers do not wait for its compression and hashes.
  lowerOwnPriority()
  const target = await openBackups(address, config)
  const { connection, secrets, close } = await openInstallation(context, 'so there is nothing to back up')
  try {
    if (config.BACKUP_PASSPHRASE === undefined)
      progress('BACKUP_PASSPHRASE is not set: the backup holds documents, conversations and keys in readable form.')
    return await backUp({
      connection,
      secrets,
      blobs: await openBlobStore(config),
      target,
      passphrase: config.BACKUP_PASSPHRASE,
      version,
      keepDays: config.BACKUP_KEEP_DAYS,
      progress,
    })
  } finally {
    await close()
  }
}

export async function runRestore(
  address: string,
  context: CommandContext,
): Promise<RestoreSummary & { readonly seconds: number; readonly verified: true }> {
  const startedAt = performance.now()
  const { config, progress } = context
  refuseProject(config)
  const { target, name } = splitAddress(address)
  const backup = await findBackup(await openBackups(target, config), { name, passphrase: config.BACKUP_PASSPHRASE })
  progress(`Restoring ${backup.address} …`)
  const {
    backup: restored,
    bytes,
    ...counts
  } = await (config.DATABASE_URL !== undefined && config.ALCOVE_SECRET !== undefined
    ? restoreToDatabase(backup, config.DATABASE_URL, config.ALCOVE_SECRET, context)
    : restoreToFolder(backup, context))
  return {
    backup: restored,
    bytes,
    seconds: Math.round(performance.now() - startedAt) / 1000,
    verified: true,
    ...counts,
  }
}

const nameStore = ({ S3_BUCKET, DATA_DIR }: Config): string =>
  S3_BUCKET === undefined ? `"${path.join(DATA_DIR, 'blobs')}"` : `The bucket "${S3_BUCKET}"`

async function restoreToDatabase(
  backup: FoundBackup,
  url: string,
  secret: string,
  { config, progress }: CommandContext,
): Promise<RestoreSummary> {
  const connection = { connectionString: url }
  await rejectRoleBoundByRls(connection)
  const blobs = await openBlobStore(config)
  await markDatabase(connection, backup.manifest.name, () => requireEmptyStore(blobs, nameStore(config)))
  const authenticatorPassword = deriveAuthenticatorPassword(secret)
  const summary = await restore({ backup, connection, authenticatorPassword, blobs, progress })
  await restoreSecretsInDatabase(connection, secret, backup.secrets)
  await unmarkDatabase(connection)
  return summary
}

/** Everything that a restore or a server makes in the folder; the folder was empty before. */
const RESTORED = [
  'postgres', 'postgres.unfinished', 'initdb-password', 'blobs', 'secrets.json', 'secrets.json.unfinished', 'postgres.log',
  'postgres.log.1', 'run',
] // prettier-ignore

async function restoreToFolder(
  backup: FoundBackup,
  { config, log, progress }: CommandContext,
): Promise<RestoreSummary> {
  const { DATA_DIR: dataDir } = config
  const { secrets, manifest } = backup
  await openDataFolder(dataDir)
  const blobs = await openBlobStore(config)
  const marker = path.join(dataDir, RESTORE_MARKER)
  const begun = await readMarker(marker)
  if (begun === undefined) {
    await requireEmptyFolder(dataDir)
    await requireEmptyStore(blobs, nameStore(config))
    await writeFile(marker, manifest.name, { mode: 0o600, flush: true })
  }
  const release = await claimDataFolder(dataDir)
  try {
    if (begun !== undefined && begun !== manifest.name) {
      // Bytes in a bucket stay, as they may not be ours alone.
      for (const name of RESTORED) await rm(path.join(dataDir, name), { recursive: true, force: true })
      await requireEmptyStore(blobs, nameStore(config))
      await writeFile(marker, manifest.name, { mode: 0o600, flush: true })
    }
    await restoreSecretsInFolder(dataDir, secrets)
    const summary = await restoreEmbedded(backup, blobs, { config, log, progress })
    await rm(marker)
    return summary
  } finally {
    await release()
  }
}

async function restoreEmbedded(
  backup: FoundBackup,
  blobs: BlobStore,
  { config, log, progress }: Pick<CommandContext, 'config' | 'log' | 'progress'>,
): Promise<RestoreSummary> {
  const { databasePassword, authenticatorPassword } = backup.secrets
  const embedded = await startEmbedded(config.DATA_DIR, databasePassword, log)
  try {
    const connection = embedded.admin
    // The folder was empty, so a database that is not, and not marked either, is one that is complete.
    if (!(await isFilled(connection))) await markDatabase(connection, backup.manifest.name, async () => undefined)
    const summary = await restore({ backup, connection, authenticatorPassword, blobs, progress })
    await unmarkDatabase(connection)
    return summary
  } finally {
    await embedded.stop()
  }
}

async function readMarker(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

async function requireEmptyFolder(dataDir: string): Promise<void> {
  const [found] = (await readdir(dataDir)).filter((name) => name !== 'lost+found')
  if (found !== undefined)
    throw new AppError(
      'conflict',
      `DATA_DIR "${dataDir}" is not empty (it has ${found}), but a restore wants an empty folder; nothing was changed.`,
    )
}
