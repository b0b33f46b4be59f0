/** The list of everything in one backup. It is written last: a backup without one is unfinished. */
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { z } from 'zod'
import { isBlobId } from '#server/blobs/id.ts'
import { AppError } from '#server/base/errors.ts'
import { parseChecked, renderChecked } from './checked-json.ts'
import { fileRecord, type Repository } from './repository.ts'

export const MANIFEST = 'manifest'
const BACKUP_NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/

/** Names begin with a year, so that a list need not go through all stored files. */
export const FIRST_OF_NAMES = '2'

export const isBackupName = (name: string): boolean => BACKUP_NAME.test(name)

/** Names sort by time. */
export const nameBackup = (at: Date): string => at.toISOString().replaceAll(/[:.]/g, '-')

/** @returns milliseconds since 1970 */
export const timeOfBackup = (name: string): number =>
  Date.parse(name.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/, 'T$1:$2:$3.$4Z'))

const tableRecord = z.object({
  schema: z.string(),
  name: z.string(),
  columns: z.array(z.string()),
  rows: z.int().nonnegative(),
  file: z.string(),
  record: fileRecord,
})
export type TableRecord = z.infer<typeof tableRecord>

const manifestSchema = z.object({
  name: z.string().regex(BACKUP_NAME),
  version: z.string(),
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })),
  /** Version of the schema of the job queue; null without one. */
  jobsVersion: z.int().nullable(),
  /** One SQL statement for each object of the schema, in the order in which they can be applied. */
  statements: z.array(z.string()),
  tables: z.array(tableRecord),
  sequences: z.array(
    z.object({ schema: z.string(), name: z.string(), value: z.string().regex(/^-?\d+$/), isCalled: z.boolean() }),
  ),
  secrets: z.object({ file: z.string(), record: fileRecord }),
  blobs: z.object({
    file: z.string(),
    record: fileRecord,
    count: z.int().nonnegative(),
    bytes: z.int().nonnegative(),
    stored: z.int().nonnegative(),
  }),
  /** Bytes that the files of this backup take in the target, shared ones included. */
  stored: z.int().nonnegative(),
})
export type Manifest = z.infer<typeof manifestSchema>

export async function writeManifest(repository: Repository, manifest: Manifest): Promise<void> {
  await repository.write(`${manifest.name}/${MANIFEST}`, renderChecked(manifest))
}

/** @throws AppError `conflict` for a damaged one, `not_found` */
export async function readManifest(repository: Repository, name: string): Promise<Manifest> {
  const value = parseChecked(await text(Readable.from(repository.readUnchecked(`${name}/${MANIFEST}`))))
  const place = `${repository.target.address}/${name}/${MANIFEST}`
  if (value === undefined) throw new AppError('conflict', `"${place}" is damaged.`)
  const parsed = manifestSchema.safeParse(value)
  if (!parsed.success)
    throw new AppError('conflict', `"${place}" was written by a newer Alcove: restore it with that one.`, {
      cause: parsed.error,
    })
  return parsed.data
}

/** @returns names of complete backups, oldest first */
export async function listBackups({ target }: Pick<Repository, 'target'>): Promise<string[]> {
  const names = new Set<string>()
  for await (const { name } of target.list(FIRST_OF_NAMES)) {
    const [folder = '', file] = name.split('/')
    if (file === MANIFEST && isBackupName(folder)) names.add(folder)
  }
  return [...names].sort()
}

const blobRecord = fileRecord.extend({ id: z.string().refine(isBlobId) })
export type BlobRecord = z.infer<typeof blobRecord>

export const blobFile = (id: string): string => `blobs/${id.slice(0, 2)}/${id}`

export async function* renderBlobs(records: Iterable<BlobRecord>): AsyncGenerator<Buffer> {
  let lines = ''
  for (const record of records) {
    lines += `${JSON.stringify(record)}\n`
    if (lines.length < 64 * 1024) continue
    yield Buffer.from(lines)
    lines = ''
  }
  yield Buffer.from(lines)
}

export async function readBlobs(repository: Repository, { blobs }: Manifest): Promise<BlobRecord[]> {
  const lines = (await buffer(Readable.from(repository.read(blobs.file, blobs.record)))).toString().split('\n')
  return lines.filter((line) => line !== '').map((line) => blobRecord.parse(JSON.parse(line)))
}
