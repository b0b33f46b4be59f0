/** Detects a file's type by its bytes; the name decides for plain text, and for encrypted and damaged files. */
import { fileTypeFromBuffer } from 'file-type'
import { FILE_TYPES, type FileType } from '#contract/file-types.ts'
import type { ByteSource } from '#server/parsing/containers/byte-source.ts'
import { isCompoundFile, listStreamNames } from '#server/parsing/containers/compound-streams.ts'
import { listZipEntries, type ZipEntry } from '#server/parsing/containers/zip-directory.ts'
import { looksLikeText } from '#server/parsing/text/looks-like-text.ts'

const HEAD_BYTES = 64 * 1024
/** Longest prefix that file-type needs for types with a fixed signature. */
const MAGIC_BYTES = 4_100

type SignatureKind = FileType['signature']['kind']

const extensionOf = (name: string): string => /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''

const findByExtension = (extension: string, kind: SignatureKind): FileType | undefined =>
  FILE_TYPES.find((type: FileType) => type.signature.kind === kind && type.extensions.includes(extension))

export async function detectUploadType(source: ByteSource, name: string): Promise<string | undefined> {
  const head = await source.read(0, HEAD_BYTES)
  return (await detectFileType(source, head, extensionOf(name)))?.mediaType
}

async function detectFileType(source: ByteSource, head: Uint8Array, extension: string): Promise<FileType | undefined> {
  const claimed = findClaimed(extension)
  if (isCompoundFile(head)) return detectOleType(await listStreamNames(source), extension) ?? claimed
  if (isZip(head)) {
    const entries = await listZipEntries(source)
    return entries ? detectZipType(entries) : claimed
  }
  // Text may begin with the mark of any format: "PKW", "BM", "II*".
  const isText = head.some((byte) => byte !== 0) && looksLikeText(head)
  const text = findByExtension(extension, 'text')
  if (text && isText && !isPdfInText(head)) return text
  const magic = await fileTypeFromBuffer(head.subarray(0, MAGIC_BYTES))
  const known = magic && findByExtension(magic.ext, 'magic')
  if (known) return known
  // Other PDF parsers also accept some junk before the header.
  if (Buffer.from(head.subarray(0, 1024)).includes('%PDF-')) return findByExtension('pdf', 'magic')
  return isText || magic ? undefined : claimed
}

/** Signatures of the first entry, of an empty and of a split zip file (APPNOTE.TXT 4.3.7, 4.3.16, 8.5.4). */
const isZip = (head: Uint8Array): boolean =>
  ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'].includes(Buffer.from(head.subarray(0, 4)).toString('latin1'))

/** Whether the bytes are a whole PDF that happens to hold characters alone. */
const isPdfInText = (head: Uint8Array): boolean =>
  /^\s*%PDF-\d\.\d\s[\s\S]*?\b\d+ \d+ obj\b/.test(Buffer.from(head).toString('latin1'))

/** The type that the name of a damaged file claims; its parser says that it is damaged. */
const findClaimed = (extension: string): FileType | undefined =>
  FILE_TYPES.find((type: FileType) => type.signature.kind !== 'text' && type.extensions.includes(extension))

function detectOleType(streams: readonly string[], extension: string): FileType | undefined {
  // A zip type with a password is wrapped in OLE, so only the name tells the inner type.
  if (streams.includes('encryptedpackage')) return findByExtension(extension, 'zip')
  const found = FILE_TYPES.find(
    ({ signature }: FileType) => signature.kind === 'ole' && signature.streams.some((name) => streams.includes(name)),
  )
  return found ?? findByExtension(extension, 'ole')
}

function detectZipType(entries: readonly ZipEntry[]): FileType | undefined {
  const names = entries.map(({ name }) => name)
  if (!names.some((name) => /^\[Content_Types\]\.xml$/i.test(name))) return undefined
  return FILE_TYPES.find(
    ({ signature }: FileType) =>
      signature.kind === 'zip' && signature.entries.some((entry) => names.some((name) => entry.test(name))),
  )
}
