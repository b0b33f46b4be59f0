/** Files of backups in a target: checked by hashes, table dumps compressed, everything encrypted where there is a passphrase. */
import { createHash } from 'node:crypto'
import { pipeline, Readable, type Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { constants, createGunzip, createGzip } from 'node:zlib'
import { z } from 'zod'
import { AppError, messageOf } from '#server/base/errors.ts'
import { parseChecked, renderChecked } from './checked-json.ts'
import { BUFFERS_OF_FILE_BYTES, collectPassed } from './collect-buffers.ts'
import { decryptStream, encryptStream } from './encrypted-stream.ts'
import { createPassphraseRecord, openPassphrase, type PassphraseRecord, passphraseRecord } from './passphrase.ts'
import type { BackupTarget } from './target.ts'

const HEADER = 'alcove-backups.json'
const CHUNK_BYTES = 64 * 1024

const headerSchema = z.object({
  format: z.literal(1),
  /** Tells backups of different installations apart, without telling anything of their keys. */
  installation: z.string().min(1),
  encryption: passphraseRecord.nullable(),
})
type Header = z.infer<typeof headerSchema>

export const fileRecord = z.object({
  /** Length and SHA-256 of the bytes before compression and encryption. */
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[\da-f]{64}$/),
  /** Bytes that the file takes in the target. */
  stored: z.int().nonnegative(),
})
export type FileRecord = z.infer<typeof fileRecord>

export interface Repository {
  readonly target: BackupTarget
  readonly isEncrypted: boolean
  /** Compresses names that end with `.gz`. */
  write(name: string, source: AsyncIterable<Buffer>): Promise<FileRecord>
  /** @throws AppError `conflict` at the latest at the end of the bytes, where they are not those of the record */
  read(name: string, record: Pick<FileRecord, 'bytes' | 'sha256'>): AsyncIterable<Buffer>
  /** For a file that carries its own check. @throws AppError `conflict` */
  readUnchecked(name: string): AsyncIterable<Buffer>
}

const isCompressed = (name: string): boolean => name.endsWith('.gz')

/** Errors of the source arrive where the result is read. */
function passThrough(source: AsyncIterable<Buffer>, through: Transform): AsyncIterable<Buffer> {
  pipeline(Readable.from(source, { objectMode: false }), through, () => undefined)
  return through
}

const compress = (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
  passThrough(source, createGzip({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES }))

const decompress = (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
  passThrough(source, createGunzip({ chunkSize: CHUNK_BYTES }))

const damaged = (address: string, name: string, cause: unknown): AppError =>
  new AppError('conflict', `"${address}/${name}" is damaged (${messageOf(cause)}).`, { cause })

export function createRepository(target: BackupTarget, key: Buffer | undefined): Repository {
  async function write(name: string, source: AsyncIterable<Buffer>): Promise<FileRecord> {
    const hash = createHash('sha256')
    let bytes = 0
    collectPassed(BUFFERS_OF_FILE_BYTES)
    async function* hashed(): AsyncGenerator<Buffer> {
      for await (const chunk of source) {
        hash.update(chunk)
        bytes += chunk.length
        collectPassed(chunk.length)
        yield chunk
      }
    }
    const packed = isCompressed(name) ? compress(hashed()) : hashed()
    const stored = await target.write(name, key ? encryptStream(packed, key, name) : packed)
    return { bytes, sha256: hash.digest('hex'), stored }
  }

  async function* readUnchecked(name: string): AsyncGenerator<Buffer> {
    const stored: AsyncIterable<Buffer> = await target.read(name)
    const packed = key ? decryptStream(stored, key, name) : stored
    try {
      yield* isCompressed(name) ? decompress(packed) : packed
    } catch (error) {
      throw error instanceof AppError ? error : damaged(target.address, name, error)
    }
  }

  async function* read(name: string, record: Pick<FileRecord, 'bytes' | 'sha256'>): AsyncGenerator<Buffer> {
    const hash = createHash('sha256')
    collectPassed(BUFFERS_OF_FILE_BYTES)
    for await (const chunk of readUnchecked(name)) {
      hash.update(chunk)
      collectPassed(chunk.length)
      yield chunk
    }
    if (hash.digest('hex') !== record.sha256)
      throw damaged(target.address, name, 'its bytes are not those that were written')
  }

  return { target, isEncrypted: key !== undefined, write, read, readUnchecked }
}

async function readHeader(target: BackupTarget): Promise<Header | undefined> {
  let text
  try {
    text = await buffer(await target.read(HEADER))
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined
    throw error
  }
  const parsed = headerSchema.safeParse(parseChecked(text.toString()))
  if (parsed.success) return parsed.data
  throw new AppError(
    'conflict',
    `"${target.address}/${HEADER}" cannot be read: it is damaged, or was written by a newer Alcove.`,
    { cause: parsed.error },
  )
}

async function openKey(
  target: BackupTarget,
  record: PassphraseRecord | null,
  passphrase: string | undefined,
): Promise<Buffer | undefined> {
  if (record === null) return undefined
  if (passphrase === undefined)
    throw new AppError('forbidden', `The backups in "${target.address}" are encrypted: set BACKUP_PASSPHRASE.`)
  const key = await openPassphrase(passphrase, record)
  if (!key)
    throw new AppError('forbidden', `BACKUP_PASSPHRASE is not the passphrase of the backups in "${target.address}".`)
  return key
}

/** @throws AppError `not_found`, `forbidden` for a wrong or missing passphrase */
export async function openRepository(target: BackupTarget, passphrase: string | undefined): Promise<Repository> {
  const header = await readHeader(target)
  if (!header) throw new AppError('not_found', `There are no backups of Alcove in "${target.address}".`)
  return createRepository(target, await openKey(target, header.encryption, passphrase))
}

/**
 * Opens the target for further backups of an installation, or prepares an empty one.
 *
 * @throws AppError `conflict` where it holds other things, `forbidden` for another passphrase
 */
export async function prepareRepository(
  target: BackupTarget,
  { passphrase, installation }: { readonly passphrase: string | undefined; readonly installation: string },
): Promise<Repository> {
  const found = await readHeader(target)
  if (found) {
    if (found.installation !== installation)
      throw new AppError(
        'conflict',
        `"${target.address}" holds the backups of another installation: choose a place of its own for this one.`,
      )
    if (found.encryption === null && passphrase !== undefined)
      throw new AppError(
        'conflict',
        `The backups in "${target.address}" are not encrypted: choose another place for encrypted ones, or unset BACKUP_PASSPHRASE.`,
      )
    return createRepository(target, await openKey(target, found.encryption, passphrase))
  }
  for await (const { name } of target.list(''))
    throw new AppError(
      'conflict',
      `"${target.address}" holds other files, such as ${name}: choose an empty place for backups.`,
    )
  const encryption = passphrase === undefined ? undefined : await createPassphraseRecord(passphrase)
  const header: Header = { format: 1, installation, encryption: encryption?.record ?? null }
  await target.write(HEADER, renderChecked(header))
  return createRepository(target, encryption?.key)
}
