import { createHash } from 'node:crypto'
import { Readable, Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import busboy from 'busboy'
import type { DocumentRow, RejectedFile, UploadAnswer } from '#contract/document.ts'
import { FILE_TYPES } from '#contract/file-types.ts'
import { MAX_FILES_PER_UPLOAD, MAX_UPLOAD_BYTES, MAX_UPLOAD_LABEL } from '#contract/upload-limits.ts'
import { describeFullFiles, type OwnUsage } from '#contract/usage.ts'
import { streamBody } from '#server/base/caller.ts'
import { AppError, APP_ERROR_STATUS, toError } from '#server/base/errors.ts'
import { gather } from '#server/base/gather.ts'
import type { Log } from '#server/base/log.ts'
import { openTransfer } from '#server/base/transfer-turns.ts'
import { removeUnnamed } from '#server/blobs/remove-unnamed.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { mayBeCommitted, toAppError } from '#server/database/errors.ts'
import { ENFORCE_QUOTAS, fileRoomOf, readOwnUsage } from '#server/database/quotas.ts'
import { type Claims, type Database, onlyLibrary, type Scope } from '#server/database/scope.ts'
import { holdMayEdit, requireMayEdit } from './store/space-libraries.ts'
import type { Jobs } from '#server/jobs/start.ts'
import type { ByteSource } from '#server/parsing/containers/byte-source.ts'
import { enqueueIngest } from './ingest/ingest-job.ts'
import {
  deleteReplacedObject,
  findDocumentsBySha256,
  insertDocument,
  insertDocuments,
  type NewDocument,
  setObjectName,
} from './store/library.ts'
import { detectUploadType } from './upload-type.ts'

export interface UploadParts {
  readonly database: Database
  readonly blobs: BlobStore
  readonly jobs: Pick<Jobs, 'enqueue'>
  readonly log: Log
}

export interface Upload {
  readonly claims: Claims & { readonly sub: string }
  readonly contentType: string
  readonly body: ReadableStream<Uint8Array>
  readonly versionOf?: DocumentRow
  /** The space that the files are added to; by default null: the person's own library. */
  readonly spaceId?: string | null
}

const FIELD = 'files'
/** Names the folder of the files that follow it in the form. */
const FOLDER_FIELD = 'folder'
const ACCEPTED_FORMATS = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  new Set(FILE_TYPES.map(({ format }) => format)),
)
const MAX_NAME_CHARACTERS = 255
const MAX_FOLDER_CHARACTERS = 768

export interface UploadOutcome extends UploadAnswer {
  readonly isCreated: boolean
}

/** @throws AppError `bad_request` if the body is not a multipart upload with files */
export async function receiveUpload(
  { claims, contentType, body, versionOf, spaceId = null }: Upload,
  parts: UploadParts,
): Promise<UploadOutcome> {
  const pending: Promise<Received>[] = []
  const room = await openRoom(parts.database, claims, spaceId)
  const insertTogether = gatherInserts(parts.database, claims, spaceId)
  streamBody()
  try {
    const form = { contentType, body, maxFiles: versionOf ? 1 : MAX_FILES_PER_UPLOAD }
    await readMultipart(form, ({ name, folder }, stream) => {
      const origin = { claims, spaceId, versionOf, position: pending.length, room, insertTogether }
      const received = receiveFile({ name: cleanName(name), folder: cleanFolder(folder) }, stream, origin, parts)
      // It may fail long before the rest of the form has arrived, and is awaited only then.
      received.catch(() => undefined)
      pending.push(received)
    })
  } catch (error) {
    await Promise.allSettled(pending)
    throw error
  }
  if (pending.length === 0)
    throw new AppError('bad_request', `Upload one or more files in the multipart field "${FIELD}".`)
  const received = await Promise.all(pending)
  return {
    documents: received.flatMap((file) => ('document' in file ? [file.document] : [])),
    rejected: received.flatMap((file) => ('rejected' in file ? [file.rejected] : [])),
    isCreated: received.some((file) => 'document' in file && file.isNew),
  }
}

export interface StoredFile {
  readonly owner: string
  /** Path below the bucket `documents`. */
  readonly objectName: string
  readonly open: () => Promise<Readable>
}

/** Adds a copy of a file in the bucket `documents`, which is deleted with that file. @throws AppError as an upload */
export async function addStoredFile({ owner, objectName, open }: StoredFile, parts: UploadParts): Promise<void> {
  const claims = { role: 'authenticated', sub: owner } as const
  const name = cleanName(objectName)
  const room = await openRoom(parts.database, claims, null)
  const insertTogether = gatherInserts(parts.database, claims, null)
  const origin = { claims, spaceId: null, versionOf: undefined, position: 0, room, insertTogether }
  const received = await receiveFile({ name, folder: '' }, await open(), origin, parts)
  if ('rejected' in received) {
    const { status, message } = received.rejected
    throw new AppError(REJECTION_CODES.find((code) => APP_ERROR_STATUS[code] === status) ?? 'bad_request', message)
  }
  const { id } = received.document
  await parts.database.asService(async (scope) => {
    await deleteReplacedObject(scope, { owner, objectName, replacement: id })
    if (received.isNew) await setObjectName(scope, id, objectName)
  })
}

type Received = { readonly document: DocumentRow; readonly isNew: boolean } | { readonly rejected: RejectedFile }

async function readMultipart(
  { contentType, body, maxFiles }: Pick<Upload, 'contentType' | 'body'> & { readonly maxFiles: number },
  onFile: (given: { readonly name: string | undefined; readonly folder: string }, stream: Readable) => void,
): Promise<void> {
  let parser: busboy.Busboy
  try {
    parser = busboy({
      headers: { 'content-type': contentType },
      defParamCharset: 'utf8',
      // busboy reports a file of exactly the limit as truncated.
      limits: { fileSize: MAX_UPLOAD_BYTES + 1, files: maxFiles, fields: 50, fieldSize: 64 * 1024 },
    })
  } catch (error) {
    throw new AppError('bad_request', 'Upload files as multipart/form-data.', { cause: error })
  }
  const open = new Set<Readable>()
  let folder = ''
  await new Promise<void>((resolve, reject) => {
    const source = Readable.fromWeb(body)
    const fail = (error: unknown) => {
      source.unpipe(parser)
      source.destroy()
      for (const stream of open) stream.destroy(toError(error))
      reject(
        error instanceof AppError
          ? error
          : new AppError('bad_request', 'The upload broke off or is not well-formed.', { cause: error }),
      )
    }
    parser.on('field', (field, value) => {
      if (field === FOLDER_FIELD) folder = value
    })
    parser.on('file', (field, stream, { filename }) => {
      if (field !== FIELD) {
        stream.on('error', fail).resume()
        return
      }
      open.add(stream)
      stream.once('close', () => open.delete(stream))
      onFile({ name: filename, folder }, stream)
    })
    parser.on('filesLimit', () =>
      fail(
        new AppError(
          'bad_request',
          `Upload no more than ${maxFiles === 1 ? 'one file' : `${maxFiles} files`} at a time.`,
        ),
      ),
    )
    parser.on('error', fail)
    parser.once('close', resolve)
    source.on('error', fail)
    source.pipe(parser)
  })
}

function cleanName(name: string | undefined): string {
  // Browsers escape only these three in a file name (HTML, multipart/form-data encoding).
  const unescaped = (name ?? '').replaceAll('%22', '"').replaceAll(/%0[AD]/gi, ' ')
  const plain = withoutControls(unescaped.normalize('NFC').split(/[/\\]/).at(-1) ?? '')
  if (plain.length <= MAX_NAME_CHARACTERS) return plain === '' ? 'unnamed' : plain
  const extension = /\.[a-z0-9]{1,5}$/i.exec(plain)?.[0] ?? ''
  return `${plain
    .slice(0, MAX_NAME_CHARACTERS - extension.length)
    .toWellFormed()
    .replaceAll('\ufffd', '')}${extension}`
}

/** Control characters and those that turn the direction of text. */
const withoutControls = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '').trim()

/** The folders nearest to the file, where the whole path is too long. It is a label, and never a path on this machine. */
function cleanFolder(given: string): string {
  const names = given
    .toWellFormed()
    .normalize('NFC')
    .split(/[/\\]/)
    .map(withoutControls)
    .filter((name) => name !== '' && name !== '.' && name !== '..')
  while (names.join('/').length > MAX_FOLDER_CHARACTERS) names.shift()
  return names.join('/')
}

/** Room that the files of one upload share while their bytes arrive. */
interface Room {
  readonly usage: OwnUsage
  left: number
}

/** @throws AppError `not_found`, `forbidden` for a space whose documents the person may not change */
async function openRoom(database: Database, claims: Claims, spaceId: string | null): Promise<Room> {
  const read = async (scope: Scope): Promise<Room> => {
    if (spaceId !== null) await requireMayEdit(scope, spaceId)
    const usage = await readOwnUsage(scope)
    // The room of the owner of a space is not for others to see. The database enforces it.
    return { usage, left: spaceId === null ? fileRoomOf(usage) : Number.POSITIVE_INFINITY }
  }
  return database.asUser(claims, read, { readOnly: true })
}

const REJECTION_CODES = ['conflict', 'too_large', 'unsupported_type', 'empty'] as const

const rejection = (name: string, code: (typeof REJECTION_CODES)[number], why: string): Received => ({
  rejected: { name, status: APP_ERROR_STATUS[code], message: `"${name}" ${why}` },
})

interface FileOrigin {
  readonly claims: Upload['claims']
  readonly spaceId: string | null
  readonly versionOf: DocumentRow | undefined
  /** Index among the files of its upload. */
  readonly position: number
  readonly room: Room
  readonly insertTogether: InsertTogether
}

/**
 * As `pipeline`, but where the target fails, the rest of the source is read: the parser of a form waits for each of its files.
 * A source that breaks off also breaks the target, whose reader reports it.
 */
function passOn(source: Readable, target: Transform): void {
  source.once('error', (error) => target.destroy(error))
  source.once('close', () => source.readableEnded || target.destroy(new Error('The upload broke off.')))
  target.on('error', () => undefined)
  target.once('close', () => {
    source.unpipe(target)
    source.resume()
  })
  source.pipe(target)
}

type InsertTogether = (document: Omit<NewDocument, 'owner' | 'spaceId' | 'series'>) => Promise<DocumentRow | undefined>

/** Files of one upload share transactions. Those that have no room together are tried one by one. */
function gatherInserts(database: Database, claims: Upload['claims'], spaceId: string | null): InsertTogether {
  const library = { owner: claims.sub, spaceId }
  const insert = async (documents: Parameters<typeof insertDocuments>[2]) => {
    await requireStillMayEdit(database, claims, spaceId)
    const insertAll = async (scope: Scope) => {
      if (spaceId !== null) await holdMayEdit(scope, claims.sub, spaceId)
      return insertDocuments(scope, library, documents)
    }
    return database.asService(insertAll, { settings: ENFORCE_QUOTAS })
  }
  const together = gather(insert)
  return (document) =>
    together(document).catch(async (thrown: unknown) => {
      if (!isTooLarge(toAppError(thrown))) throw thrown
      return (await insert([document]))[0]
    })
}

/** A person may have been removed from a space while the bytes of a file arrived. @throws AppError `not_found`, `forbidden` */
async function requireStillMayEdit(
  database: Database,
  claims: Upload['claims'],
  spaceId: string | null,
): Promise<void> {
  if (spaceId !== null) await database.asUser(claims, (scope) => requireMayEdit(scope, spaceId), { readOnly: true })
}

const isTooLarge = (error: unknown): error is AppError => error instanceof AppError && error.code === 'too_large'

async function receiveFile(
  { name, folder }: { readonly name: string; readonly folder: string },
  stream: Readable,
  { claims, spaceId, versionOf, position, room, insertTogether }: FileOrigin,
  parts: UploadParts,
): Promise<Received> {
  const { database, blobs, jobs, log } = parts
  const hash = createHash('sha256')
  let fits = room.left > 0
  let taken = 0
  const giveBack = () => {
    room.left += taken
    taken = 0
  }
  const transfer = openTransfer()
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      transfer.pass(() => {
        if (fits) {
          taken += chunk.length
          room.left -= chunk.length
          fits = room.left >= 0
          // At once: the next file of the upload may be smaller.
          if (!fits) giveBack()
        }
        hash.update(chunk)
        // The rest of a file that does not fit is read, so that the answer arrives, but not stored.
        done(null, fits ? chunk : undefined)
      })
    },
  })
  passOn(stream, hashing)
  const blob = await blobs.put(hashing).finally(() => {
    // Without a folder, for one, nothing of it was read.
    hashing.destroy()
    transfer.end()
  })
  let isKept = false
  try {
    if (!fits) return rejection(name, 'too_large', `was not added. ${describeFullFiles(room.usage)}`)
    if (blob.size > MAX_UPLOAD_BYTES) return rejection(name, 'too_large', `is larger than ${MAX_UPLOAD_LABEL}.`)
    if (blob.size === 0) return rejection(name, 'empty', 'is empty.')
    const mimetype = await detectUploadType(sourceOfBlob(blobs, blob), name)
    if (mimetype === undefined) return rejection(name, 'unsupported_type', `is not a ${ACCEPTED_FORMATS} file.`)
    const sha256 = hash.digest('hex')
    const findExisting = async () =>
      (
        await database.asUser(claims, (scope) => findDocumentsBySha256(scope, [sha256]), {
          settings: onlyLibrary(spaceId ?? claims.sub),
        })
      )[0]?.document
    const given = { name, folder, mimetype, size: blob.size, path: blob.id, sha256 }
    const insert = async () => {
      if (!versionOf) return insertTogether(given)
      await requireStillMayEdit(database, claims, spaceId)
      const insertVersion = async (scope: Scope) => {
        if (spaceId !== null) await holdMayEdit(scope, claims.sub, spaceId)
        return insertDocument(scope, { ...given, owner: claims.sub, spaceId, series: versionOf.series })
      }
      return database.asService(insertVersion, { settings: ENFORCE_QUOTAS })
    }
    // The bytes that a person already has need no room.
    const document = await insert().catch(async (thrown: unknown) => {
      if (isTooLarge(toAppError(thrown)) && (await findExisting())) return undefined
      throw thrown
    })
    if (document) {
      isKept = true
      // The first file of a later upload precedes the hundredth of an earlier one.
      enqueueIngest(jobs, { ...document, attempt: 0 }, position)
      return { document, isNew: true }
    }
    const existing = await findExisting()
    if (!existing) throw new AppError('conflict', `"${name}" was uploaded and deleted at the same time.`)
    return versionOf ? rejectDuplicate(name, existing, versionOf) : { document: existing, isNew: false }
  } catch (thrown) {
    // The row may exist, or be committed later. The sweep removes bytes that none names.
    isKept = mayBeCommitted(thrown)
    const error = toAppError(thrown)
    if (isTooLarge(error)) return rejection(name, 'too_large', `was not added. ${error.message}`)
    throw thrown
  } finally {
    if (!isKept) {
      giveBack()
      await removeUnnamed({ blobs, log }, blob.id)
    }
  }
}

const rejectDuplicate = (name: string, known: DocumentRow, versionOf: DocumentRow): Received =>
  rejection(
    name,
    'conflict',
    known.series === versionOf.series
      ? `is the same file as version ${known.version} of this document.`
      : `is in your library already, as "${known.filename}".`,
  )

const sourceOfBlob = (blobs: BlobStore, { id, size }: { readonly id: string; readonly size: number }): ByteSource => ({
  size,
  async read(start, length) {
    const end = Math.min(start + length, size) - 1
    return end < start ? new Uint8Array() : buffer(await blobs.open(id, { start, end }))
  },
})
