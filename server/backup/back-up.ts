/** Writes one backup: the database as of one instant, then the bytes that its rows name, then the list of everything. */
import { createHash, hkdfSync } from 'node:crypto'
import { Readable } from 'node:stream'
import pg from 'pg'
import type { Secrets } from '#server/access/secrets.ts'
import { AppError } from '#server/base/errors.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { BACKUP_LOCK } from '#server/database/backup-lock.ts'
import { collectPassed } from './collect-buffers.ts'
import {
  blobFile,
  type BlobRecord,
  listBackups,
  type Manifest,
  nameBackup,
  readBlobs,
  readManifest,
  renderBlobs,
  type TableRecord,
  writeManifest,
} from './manifest.ts'
import { type Progress, reportEvery } from './progress.ts'
import { removeLeftovers, removeOldBackups } from './remove-backups.ts'
import { prepareRepository, type Repository } from './repository.ts'
import { copyOut, describeDatabase, readNamedBlobs, VALUE_FORMAT } from './snapshot.ts'
import type { BackupTarget } from './target.ts'
import { runTogether } from './run-together.ts'

/** Small files wait for one another's disk or network. */
const BLOBS_AT_ONCE = 2

export interface BackUpOptions {
  /** A role that row-level security does not bind. */
  readonly connection: pg.ClientConfig
  readonly secrets: Secrets
  readonly blobs: BlobStore
  readonly target: BackupTarget
  readonly passphrase: string | undefined
  /** Version of this Alcove. */
  readonly version: string
  /** Backups older than so many days are removed after this one is verified; 0: none. */
  readonly keepDays: number
  readonly progress: Progress
}

export interface BackUpSummary {
  /** To be given to `restore`. */
  readonly backup: string
  /** Bytes that this backup takes in the target, with the files that it shares with earlier ones. */
  readonly bytes: number
  readonly seconds: number
  readonly verified: true
  /** Bytes that this run wrote. */
  readonly sent: number
  readonly tables: number
  readonly rows: number
  readonly blobs: number
  /** Ids of bytes that rows name and the store no longer has; absent without any. */
  readonly missing?: readonly string[]
}

/** Says nothing of the key that it is made of. */
const identify = ({ encryptionKey }: Secrets): string =>
  Buffer.from(
    hkdfSync('sha256', Buffer.from(encryptionKey, 'base64'), 'alcove', 'installation of a backup', 16),
  ).toString('hex')

const ANOTHER_RUNS = 'another_runs'

export const isAnotherRunning = (error: unknown): boolean =>
  error instanceof AppError && error.details?.['reason'] === ANOTHER_RUNS

/** @throws AppError `conflict` while another backup runs */
export async function backUp(options: BackUpOptions): Promise<BackUpSummary> {
  const client = new pg.Client({ ...options.connection, application_name: 'alcove backup', keepAlive: true })
  // A lost connection fails the running statement, which reports it.
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query<{ isLocked: boolean }>('select pg_try_advisory_lock($1) as "isLocked"', [
      BACKUP_LOCK,
    ])
    if (rows[0]?.isLocked !== true)
      throw new AppError('conflict', 'Another backup of this installation is running: wait for its end.', {
        details: { reason: ANOTHER_RUNS },
      })
    return await writeBackup(client, options)
  } finally {
    await client.end()
  }
}

async function writeBackup(client: pg.Client, options: BackUpOptions): Promise<BackUpSummary> {
  const startedAt = performance.now()
  const { secrets, blobs, target, passphrase, version, keepDays, progress } = options
  const repository = await prepareRepository(target, { passphrase, installation: identify(secrets) })
  await removeLeftovers(repository)
  const earlier = await readEarlierBlobs(repository, progress)

  const name = nameBackup(new Date())
  progress(`Backing up to ${target.address}/${name} …`)
  await client.query(VALUE_FORMAT)
  await client.query('begin isolation level repeatable read, read only')
  const database = await writeDatabase(client, repository, name, progress)
  const named = await readNamedBlobs(client)
  // An open transaction would hold back changes of the schema for as long as files are copied.
  await client.query('rollback')
  const copied = await copyBlobs({ blobs, repository, earlier, progress })

  const secretsFile = `${name}/secrets`
  const secretsRecord = await repository.write(secretsFile, Readable.from([Buffer.from(JSON.stringify(secrets))]))
  const blobsFile = `${name}/blobs.gz`
  const { records } = copied
  for (const { id } of records) named.delete(id)
  const missing = [...named]
  const blobsRecord = await repository.write(blobsFile, renderBlobs(records))
  const own = [...database.tables.map(({ record }) => record), secretsRecord, blobsRecord]
  const storedByBlobs = sum(records.map(({ stored }) => stored))
  const manifest: Manifest = {
    name,
    version,
    ...database,
    secrets: { file: secretsFile, record: secretsRecord },
    blobs: {
      file: blobsFile,
      record: blobsRecord,
      count: records.length,
      bytes: sum(records.map(({ bytes }) => bytes)),
      stored: storedByBlobs,
    },
    stored: sum(own.map(({ stored }) => stored)) + storedByBlobs,
  }
  const resent = await verify({ repository, manifest, records, blobs, progress })
  // Fails with a lost connection, with which the lock that keeps bytes from being deleted meanwhile was lost.
  await client.query('select')
  await writeManifest(repository, manifest)
  // The list itself is read back too: from here on the backup is complete.
  await readManifest(repository, name)
  if (keepDays > 0) await removeOldBackups(repository, keepDays, progress)

  for (const id of missing) progress(`The bytes ${id} are named by a row, but the store no longer has them.`)
  return {
    backup: `${target.address}/${name}`,
    bytes: manifest.stored,
    seconds: Math.round(performance.now() - startedAt) / 1000,
    verified: true,
    sent: sum(own.map(({ stored }) => stored)) + copied.sent + resent,
    tables: database.tables.length,
    rows: sum(database.tables.map(({ rows }) => rows)),
    blobs: records.length,
    ...(missing.length > 0 ? { missing } : {}),
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/** Bytes never change under an id, so what an earlier backup has need not be read again. */
async function readEarlierBlobs(repository: Repository, progress: Progress): Promise<Map<string, BlobRecord>> {
  const newest = (await listBackups(repository)).at(-1)
  if (newest === undefined) return new Map()
  try {
    const records = await readBlobs(repository, await readManifest(repository, newest))
    return new Map(records.map((record) => [record.id, record]))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    progress(`${error.message} All files are read again.`)
    return new Map()
  }
}

async function writeDatabase(client: pg.Client, repository: Repository, name: string, progress: Progress) {
  const { tables: found, migrations, sequences, statements, jobsVersion } = await describeDatabase(client)
  const tables: TableRecord[] = []
  const report = reportEvery(progress)
  for (const table of found) {
    const file = `${name}/tables/${String(tables.length).padStart(4, '0')}.gz`
    const rows = copyOut(client, table)
    const record = await repository.write(file, rows as AsyncIterable<Buffer>)
    tables.push({ ...table, columns: [...table.columns], rows: rows.rowCount, file, record })
    report(() => `${tables.length} tables written, the last one ${table.schema}.${table.name}`)
  }
  return {
    migrations: [...migrations],
    jobsVersion,
    statements: [...statements],
    tables,
    sequences: [...sequences],
  }
}

interface BlobCopy {
  readonly blobs: BlobStore
  readonly repository: Repository
  readonly earlier: ReadonlyMap<string, BlobRecord>
  readonly progress: Progress
}

/** Copies everything that the store has now: each row of the snapshot names bytes that were there before it. */
async function copyBlobs({ blobs, repository, earlier, progress }: BlobCopy) {
  const present = new Map<string, number>()
  for await (const { name, bytes } of repository.target.list('blobs/')) present.set(name, bytes)
  const records: BlobRecord[] = []
  let sent = 0
  const report = reportEvery(progress)

  async function copy(id: string): Promise<void> {
    const file = blobFile(id)
    const stored = present.get(file)
    const known = earlier.get(id)
    if (known !== undefined && stored === known.stored) {
      records.push(known)
      return
    }
    try {
      // A run that was cut off may have written it. Its bytes are compared when they are read back.
      const record =
        stored === undefined || known !== undefined
          ? await repository.write(file, await blobs.open(id))
          : { ...(await measure(await blobs.open(id))), stored }
      if (record.stored !== stored) sent += record.stored
      records.push({ id, ...record })
    } catch (error) {
      // An upload that is not finished is in the list, but cannot be read.
      if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    }
    report(() => `${records.length} files copied`)
  }

  await runTogether(listIds(blobs), BLOBS_AT_ONCE, copy)
  return { records: records.sort((a, b) => (a.id < b.id ? -1 : 1)), sent }
}

async function* listIds(blobs: BlobStore): AsyncGenerator<string> {
  for await (const { id } of blobs.list()) yield id
}

async function measure(source: AsyncIterable<Buffer>): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of source) {
    hash.update(chunk)
    bytes += chunk.length
    collectPassed(chunk.length)
  }
  return { bytes, sha256: hash.digest('hex') }
}

interface Verification {
  readonly repository: Repository
  readonly manifest: Manifest
  readonly records: readonly BlobRecord[]
  readonly blobs: BlobStore
  readonly progress: Progress
}

/** Reads everything back. A file that was damaged in the target is sent again. @returns bytes sent again */
async function verify({ repository, manifest, records, blobs, progress }: Verification): Promise<number> {
  const { tables, secrets, blobs: list } = manifest
  for (const { file, record } of [...tables, secrets, list]) await readThrough(repository.read(file, record))
  let checked = 0
  let resent = 0
  const report = reportEvery(progress)
  await runTogether(records, BLOBS_AT_ONCE, async (record) => {
    const file = blobFile(record.id)
    try {
      await readThrough(repository.read(file, record))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      progress(`${error.message} It is sent again.`)
      const { stored } = await repository.write(file, await blobs.open(record.id))
      resent += stored
      await readThrough(repository.read(file, record))
    }
    checked += 1
    report(() => `${checked} of ${records.length} files read back`)
  })
  return resent
}

async function readThrough(source: AsyncIterable<Buffer>): Promise<void> {
  const chunks = source[Symbol.asyncIterator]()
  for (let isDone = false; !isDone;) isDone = (await chunks.next()).done === true
}
