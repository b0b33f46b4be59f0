/** What a file is, by its bytes. The name decides only where bytes cannot: plain text, and Office files with a password. */
import { fileTypeFromBuffer } from 'file-type'
import { UPLOAD_TYPES, type UploadExtension } from '#contract/limits.ts'
import { type ByteSource } from '#server/parsing/containers/byte-source.ts'
import { isOleFile, oleStreamNames } from '#server/parsing/containers/compound-streams.ts'
import { listZipEntries } from '#server/parsing/containers/zip-directory.ts'
import { decodeText } from '#server/parsing/text/decode-text.ts'

const HEAD_BYTES = 64 * 1024
/** Longest stretch that the types need that are told by their first bytes. */
const MAGIC_BYTES = 4_100
const BY_MAGIC: Readonly<Record<string, UploadExtension>> = { pdf: 'pdf', jpg: 'jpg', png: 'png' }

const extensionOf = (name: string): string => /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''

/** The media type of an accepted file, undefined for any other. */
export async function detectUploadType(source: ByteSource, name: string): Promise<string | undefined> {
  const head = await source.read(0, HEAD_BYTES)
  const extension = await detectExtension(source, head, extensionOf(name))
  return extension && UPLOAD_TYPES[extension]
}

async function detectExtension(
  source: ByteSource,
  head: Uint8Array,
  named: string,
): Promise<UploadExtension | undefined> {
  if (isOleFile(head)) return legacyOfficeType(await oleStreamNames(source), named)
  if (head[0] === 0x50 && head[1] === 0x4b) return modernOfficeType(source)
  const magic = await fileTypeFromBuffer(head.subarray(0, MAGIC_BYTES))
  const known = magic && BY_MAGIC[magic.ext]
  if (known) return known
  // Readers of pdf accept some junk before the header, and so do we.
  if (Buffer.from(head.subarray(0, 1024)).includes('%PDF-')) return 'pdf'
  return named === 'txt' && (await decodeText(head)) !== undefined ? 'txt' : undefined
}

function legacyOfficeType(streams: readonly string[], named: string): UploadExtension | undefined {
  // A modern file with a password is wrapped like a legacy one, and only its name tells what is inside.
  if (streams.includes('encryptedpackage')) return named === 'docx' || named === 'xlsx' ? named : undefined
  if (streams.includes('worddocument')) return 'doc'
  if (streams.includes('workbook') || streams.includes('book')) return 'xls'
  return named === 'doc' || named === 'xls' ? named : undefined
}

/** By the names in the table of contents, without unpacking anything. */
async function modernOfficeType(source: ByteSource): Promise<UploadExtension | undefined> {
  const names = ((await listZipEntries(source)) ?? []).map(({ name }) => name)
  if (!names.some((name) => /^\[Content_Types\]\.xml$/i.test(name))) return undefined
  if (names.some((name) => name.startsWith('word/'))) return 'docx'
  // Not every program puts it into the folder that Excel does.
  if (names.some((name) => name.startsWith('xl/') || /(?:^|\/)workbook\.xml$/i.test(name))) return 'xlsx'
  return undefined
}
