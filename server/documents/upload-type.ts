/** Detects a file's type by its bytes; the name decides only for plain text and encrypted Office files. */
import { fileTypeFromBuffer } from 'file-type'
import { FILE_TYPES, type FileType } from '#contract/file-types.ts'
import type { ByteSource } from '#server/parsing/containers/byte-source.ts'
import { isCompoundFile, listStreamNames } from '#server/parsing/containers/compound-streams.ts'
import { listZipEntries } from '#server/parsing/containers/zip-directory.ts'
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
  if (isCompoundFile(head)) return detectOleType(await listStreamNames(source), extension)
  if (head[0] === 0x50 && head[1] === 0x4b) return detectZipType(source)
  const magic = await fileTypeFromBuffer(head.subarray(0, MAGIC_BYTES))
  const known = magic && findByExtension(magic.ext, 'magic')
  if (known) return known
  // Other PDF parsers also accept some junk before the header.
  if (Buffer.from(head.subarray(0, 1024)).includes('%PDF-')) return findByExtension('pdf', 'magic')
  const text = findByExtension(extension, 'text')
  return text && looksLikeText(head) ? text : undefined
}

function detectOleType(streams: readonly string[], extension: string): FileType | undefined {
  // A zip type with a password is wrapped in OLE, so only the name tells the inner type.
  if (streams.includes('encryptedpackage')) return findByExtension(extension, 'zip')
  const found = FILE_TYPES.find(
    ({ signature }: FileType) => signature.kind === 'ole' && signature.streams.some((name) => streams.includes(name)),
  )
  return found ?? findByExtension(extension, 'ole')
}

async function detectZipType(source: ByteSource): Promise<FileType | undefined> {
  const names = ((await listZipEntries(source)) ?? []).map(({ name }) => name)
  if (!names.some((name) => /^\[Content_Types\]\.xml$/i.test(name))) return undefined
  return FILE_TYPES.find(
    ({ signature }: FileType) =>
      signature.kind === 'zip' && signature.entries.some((entry) => names.some((name) => entry.test(name))),
  )
}
