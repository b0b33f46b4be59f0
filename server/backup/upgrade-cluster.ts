/**
 * Takes the embedded database over from an older major version of PostgreSQL, whose programs `scripts/prepare.mjs` has installed.
 * Until both folders are exchanged, the old database is only read: cut off at any moment, the next start begins again.
 */
import { lstat, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Secrets } from '#server/access/secrets.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { shellCommand } from '#server/base/shell-command.ts'
import { readFreeBytes } from '#server/blobs/refuse-on-full-disk.ts'
import { locateBinaries, locateOlderBinaries, majorVersion } from '#server/database/binaries.ts'
import {
  clusterIn,
  exchangeClusters,
  formerOf,
  readVersion,
  upgradedOf,
  upgradingOf,
} from '#server/database/cluster-folders.ts'
import { type ClusterStart, type EmbeddedPostgres, startCluster, stopOrphan } from '#server/database/embedded.ts'
import { findEntry } from '#server/database/restore-cluster.ts'
import { copyDatabase } from './copy-database.ts'
import { onClient } from './load-database.ts'
import type { Progress } from './progress.ts'

export interface ClusterUpgrade {
  readonly dataDir: string
  readonly secrets: Pick<Secrets, 'databasePassword' | 'authenticatorPassword'>
  /** Room that stays free on the disk. */
  readonly marginBytes: number
  readonly log: Log
}

const OLD_PORT = 5433
const NEW_PORT = 5434
const WITHOUT_VACUUM = ['-c', 'autovacuum=off']
/** Rows that are loaded in the transaction that emptied their table are then not logged, but written before the commit. */
const FOR_LOADING = [...WITHOUT_VACUUM, '-c', 'wal_level=minimal', '-c', 'max_wal_senders=0']

/** PostgreSQL's `max_wal_size`: its log of a load grows to about this. */
const MAX_LOG_BYTES = 1024 ** 3

interface Versions {
  readonly from: string
  readonly to: string
}

/**
 * Does nothing where the database is of this version, or where the programs of its version are not installed.
 *
 * @throws AppError `startup` where the database cannot be taken over; nothing is changed then
 */
export async function upgradeCluster({ dataDir, secrets, marginBytes, log }: ClusterUpgrade): Promise<void> {
  const clusterDir = clusterIn(dataDir)
  const from = readVersion(clusterDir)
  if (from === undefined) return
  const binaries = await locateBinaries(dataDir)
  const to = await majorVersion(binaries)
  if (!(Number(from) < Number(to))) return
  const older = await locateOlderBinaries(dataDir, from)
  if (older === undefined) return

  const upgrading = upgradingOf(clusterDir)
  await stopOrphan(upgrading, log)
  await removeUnfinished(clusterDir)
  const former = formerOf(clusterDir, to)
  if (findEntry(former) !== undefined)
    throw new AppError(
      'startup',
      `"${former}" holds a database from before an earlier upgrade: run ${shellCommand('mv', former, path.join(path.dirname(dataDir), path.basename(former)))} and start again. Nothing was changed.`,
    )
  await requireRoom({ clusterDir, marginBytes, from, to })

  log.info({ from, to }, 'taking the database over to a newer PostgreSQL; with much data it takes minutes')
  const copied = await fillNewCluster({
    old: { dataDir, clusterDir, binaries: older, port: OLD_PORT, settings: WITHOUT_VACUUM, log },
    fresh: { dataDir, clusterDir: upgrading, binaries, port: NEW_PORT, settings: FOR_LOADING, log },
    secrets,
    progress: (sentence) => log.info({ from, to }, sentence),
  }).catch(async (error: unknown) => {
    await removeUnfinished(clusterDir)
    throw error instanceof AppError && error.code === 'conflict' ? refuse(error.message, { from, to }, error) : error
  })
  // A failure from here on must remove nothing: the new database may be the only one that has a place.
  exchangeClusters(clusterDir, to)
  log.info(
    { from, to, ...copied, former },
    'the database is taken over; the start after one that succeeds removes the former one',
  )
}

interface ClusterFilling {
  readonly old: Omit<ClusterStart, 'password'>
  readonly fresh: Omit<ClusterStart, 'password'>
  readonly secrets: ClusterUpgrade['secrets']
  readonly progress: Progress
}

/** Both servers are stopped at the end. */
function fillNewCluster({ old, fresh, secrets, progress }: ClusterFilling) {
  const { databasePassword: password, authenticatorPassword } = secrets
  return whileRunning({ ...old, password }, async (from) => {
    await requireOwnDatabases(from)
    return whileRunning({ ...fresh, password }, async (to) => {
      const copied = await copyDatabase({ from: from.admin, to: to.admin, authenticatorPassword, progress })
      // An ordinary stop has eight seconds.
      await onClient(to.admin, (client) => client.query('checkpoint'))
      return copied
    })
  })
}

const refuse = (reason: string, { from, to }: Versions, cause?: unknown): AppError =>
  new AppError(
    'startup',
    `The database cannot be taken over from PostgreSQL ${from} to ${to}. ${reason} Nothing was changed; docs/operate.md says how to do it by a backup.`,
    { cause },
  )

async function removeUnfinished(clusterDir: string): Promise<void> {
  const upgrading = upgradingOf(clusterDir)
  for (const folder of [upgrading, `${upgrading}.unfinished`, upgradedOf(clusterDir)])
    await rm(folder, { recursive: true, force: true })
}

async function whileRunning<T>(start: ClusterStart, run: (cluster: EmbeddedPostgres) => Promise<T>): Promise<T> {
  const cluster = await startCluster(start)
  try {
    return await run(cluster)
  } finally {
    await cluster.stop()
  }
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name)
    // The log of the old server is not copied.
    if (entry.name === 'pg_wal') continue
    bytes += entry.isDirectory() ? await sizeOf(file) : (await lstat(file)).size
  }
  return bytes
}

const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000).toLocaleString('en')} MB`

/** The copy is about as large as the old database; a log is written with it. */
async function requireRoom({
  clusterDir,
  marginBytes,
  from,
  to,
}: Versions & { readonly clusterDir: string; readonly marginBytes: number }): Promise<void> {
  const bytes = await sizeOf(clusterDir)
  const needed = bytes + Math.min(bytes, MAX_LOG_BYTES) + marginBytes
  const free = await readFreeBytes(clusterDir)
  if (free >= needed) return
  throw new AppError(
    'startup',
    `The database cannot be taken over from PostgreSQL ${from} to ${to}: that needs ${inMegabytes(needed)} of room on the disk of "${path.dirname(clusterDir)}", and ${inMegabytes(free)} are free. Make room and start again; nothing was changed.`,
  )
}

/** @throws AppError `conflict` where people made a database of their own, which would be left behind */
async function requireOwnDatabases({ admin }: EmbeddedPostgres): Promise<void> {
  const { rows } = await onClient(admin, (client) =>
    client.query<{ name: string }>(
      `select datname as name from pg_database where not datistemplate and datname not in ('postgres', current_database())`,
    ),
  )
  if (rows[0] !== undefined)
    throw new AppError(
      'conflict',
      `The database "${rows[0].name}" next to it would be left behind: move it elsewhere first.`,
    )
}
