/**
 * Restores one backup into an empty database and an empty blob store. Each step finds what an earlier run that was cut off
 * has done, and goes on there.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { parseSecrets, type Secrets } from '#server/access/secrets.ts'
import { AppError } from '#server/base/errors.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { migrate, requireKnownMigrations } from '#server/database/migrate.ts'
import { createSchema, foldersOf, loadRows, onClient } from './load-database.ts'
import {
  blobFile,
  isBackupName,
  listBackups,
  type Manifest,
  readBlobs,
  readManifest,
  type TableRecord,
} from './manifest.ts'
import { type Progress, reportEvery } from './progress.ts'
import { openRepository, type Repository } from './repository.ts'
import { runTogether } from './run-together.ts'
import { nameColumns, nameTable, RESTORE_SCHEMA } from './snapshot.ts'
import type { BackupTarget } from './target.ts'

const BLOBS_AT_ONCE = 2

export interface FoundBackup {
  readonly repository: Repository
  readonly manifest: Manifest
  readonly secrets: Secrets
  readonly address: string
}

/** Splits the address of one backup; that of a target means its newest backup. */
export function splitAddress(address: string): { target: string; name: string | undefined } {
  const [, target, name] = /^(.+?)\/+([^/]+)\/*$/.exec(address) ?? []
  return target !== undefined && name !== undefined && isBackupName(name)
    ? { target, name }
    : { target: address, name: undefined }
}

/** @throws AppError `not_found`, `forbidden` for a wrong passphrase, `conflict` for a damaged one, `startup` for a newer one */
export async function findBackup(
  target: BackupTarget,
  { name, passphrase }: { readonly name: string | undefined; readonly passphrase: string | undefined },
): Promise<FoundBackup> {
  const repository = await openRepository(target, passphrase)
  const found = name ?? (await listBackups(repository)).at(-1)
  if (found === undefined)
    throw new AppError('not_found', `No backup in "${target.address}" is complete: make one first.`)
  const manifest = await readManifest(repository, found)
  await requireKnownMigrations(manifest.migrations, 'backup')
  const { file, record } = manifest.secrets
  const json = await readText(repository.read(file, record))
  return { repository, manifest, secrets: parseSecrets(json), address: `${target.address}/${found}` }
}

async function readText(source: AsyncIterable<Buffer>): Promise<string> {
  const chunks = []
  for await (const chunk of source) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export interface RestoreOptions {
  readonly backup: FoundBackup
  /** A role that row-level security does not bind. */
  readonly connection: pg.ClientConfig
  readonly authenticatorPassword: string
  readonly blobs: BlobStore
  readonly progress: Progress
}

export interface RestoreSummary {
  readonly backup: string
  readonly bytes: number
  readonly tables: number
  readonly rows: number
  readonly blobs: number
}

export async function restore(options: RestoreOptions): Promise<RestoreSummary> {
  const { backup, connection, blobs, progress } = options
  const { repository, manifest } = backup
  await restoreDatabase(options)
  const records = await readBlobs(repository, manifest)
  let done = 0
  const report = reportEvery(progress)
  await runTogether(records, BLOBS_AT_ONCE, async ({ id, bytes, sha256 }) => {
    if ((await sizeOf(blobs, id)) !== bytes)
      await blobs.put(Readable.from(repository.read(blobFile(id), { bytes, sha256 }), { objectMode: false }), id)
    done += 1
    report(() => `${done} of ${records.length} files restored`)
  })
  await onClient(connection, (client) => client.query('analyze'))
  return {
    backup: backup.address,
    bytes: manifest.stored,
    tables: manifest.tables.length,
    rows: manifest.tables.reduce((total, { rows }) => total + rows, 0),
    blobs: records.length,
  }
}

async function sizeOf(blobs: BlobStore, id: string): Promise<number | undefined> {
  try {
    return await blobs.size(id)
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined
    throw error
  }
}

/** The schema as of the backup, its rows, and then what is newer than the backup. */
async function restoreDatabase({ backup, connection, authenticatorPassword, progress }: RestoreOptions): Promise<void> {
  const { repository, manifest } = backup
  const isLoaded = await onClient(connection, (client) => isMarkedLoaded(client))
  if (!isLoaded) {
    progress('Creating the tables …')
    const { notCreated } = await createSchema(connection, { content: manifest, authenticatorPassword })
    for (const { statement, reason } of notCreated)
      progress(`Not restored: ${statement.split('\n')[0] ?? ''} (${reason})`)
    await onClient(connection, (client) =>
      loadRows(client, {
        content: manifest,
        holder: 'backup',
        load: (table) => loadTable(client, repository, table),
        onLoaded: async () => {
          await client.query(`update ${RESTORE_SCHEMA}.unfinished set is_loaded = true`)
        },
        progress,
      }),
    )
  }
  await migrate(connection, { folders: foldersOf(manifest), authenticatorPassword })
}

/** Without a mark the restore of the database has ended. */
async function isMarkedLoaded(client: pg.Client): Promise<boolean> {
  const marks = await client.query<{ present: boolean }>('select to_regclass($1) is not null as present', [
    `${RESTORE_SCHEMA}.unfinished`,
  ])
  if (marks.rows[0]?.present !== true) return true
  const { rows } = await client.query<{ isLoaded: boolean }>(
    `select is_loaded as "isLoaded" from ${RESTORE_SCHEMA}.unfinished`,
  )
  return rows[0]?.isLoaded === true
}

async function loadTable(client: pg.Client, repository: Repository, table: TableRecord): Promise<void> {
  const input = client.query(copyFrom(`copy ${nameTable(table)} ${nameColumns(table)} from stdin`))
  await pipeline(repository.read(table.file, table.record), input)
  if (input.rowCount !== table.rows)
    throw new AppError(
      'conflict',
      `The backup has ${table.rows} rows of ${nameTable(table)}, but ${input.rowCount} were loaded.`,
    )
}
