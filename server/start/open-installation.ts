/** The database of an installation, for commands that run with or without its server. */
import type pg from 'pg'
import { loadSecretsFromDatabase, loadSecretsFromFolder, type Secrets } from '#server/access/secrets.ts'
import { isFilled, rejectUnfinishedRestore } from '#server/backup/restore-place.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Config } from '#server/config.ts'
import { locateBinaries, locateOlderBinaries, majorVersion } from '#server/database/binaries.ts'
import { clusterIn, readVersion, upgradedOf } from '#server/database/cluster-folders.ts'
import { connectToRunning, startEmbedded } from '#server/database/embedded.ts'
import { findEntry } from '#server/database/restore-cluster.ts'
import { rejectRoleBoundByRls } from './connect.ts'
import { claimDataFolder, isInUse, refuseUnfinishedRestore, restoreDataFolder } from './data-folder.ts'

interface OpenInstallation {
  readonly connection: pg.ClientConfig
  readonly secrets: Secrets
  readonly close: () => Promise<void>
}

/**
 * Connects to the database of an installation as its owner, whether or not a server is running: without one, the embedded database
 * runs until `close`. @param consequence why an empty place is an error @throws AppError `startup`
 */
export async function openInstallation(
  { config, log }: { readonly config: Config; readonly log: Log },
  consequence: string,
): Promise<OpenInstallation> {
  const { DATA_DIR: dataDir, DATABASE_URL: url, ALCOVE_SECRET: secret } = config
  if (url !== undefined && secret !== undefined) {
    const connection = { connectionString: url }
    await rejectRoleBoundByRls(connection)
    await rejectUnfinishedRestore(connection)
    if (!(await isFilled(connection)))
      throw new AppError('startup', `The database of DATABASE_URL holds no Alcove, ${consequence}.`)
    return { connection, secrets: await loadSecretsFromDatabase(connection, secret), close: async () => undefined }
  }
  refuseUnfinishedRestore(dataDir)
  if (findEntry(clusterIn(dataDir)) === undefined && findEntry(upgradedOf(clusterIn(dataDir))) === undefined)
    throw new AppError('startup', `DATA_DIR "${dataDir}" holds no Alcove, ${consequence}.`)
  const secrets = await loadSecretsFromFolder(dataDir)
  if (await isInUse(dataDir)) {
    const connection = await connectToRunning(dataDir, secrets.databasePassword)
    return { connection, secrets, close: async () => undefined }
  }
  const release = await claimDataFolder(dataDir)
  try {
    restoreDataFolder(dataDir, { hasBlobs: config.S3_ENDPOINT === undefined })
    await refuseOlderDatabase(dataDir)
    const embedded = await startEmbedded(dataDir, secrets.databasePassword, log)
    const close = async () => {
      await embedded.stop()
      await release()
    }
    return { connection: embedded.admin, secrets, close }
  } catch (error) {
    await release()
    throw error
  }
}

/** A command takes no database over from an older PostgreSQL: the server does. */
async function refuseOlderDatabase(dataDir: string): Promise<void> {
  const version = readVersion(clusterIn(dataDir))
  if (version === undefined || version === (await majorVersion(await locateBinaries(dataDir)))) return
  // Otherwise the start of the database says what to do.
  if ((await locateOlderBinaries(dataDir, version)) === undefined) return
  throw new AppError(
    'startup',
    `The database in "${dataDir}" was written by PostgreSQL ${version}: start the server once, which takes it over, then run this again. Nothing was changed.`,
  )
}
