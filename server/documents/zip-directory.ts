/** The table of contents of a zip file, read without inflating anything (APPNOTE.TXT 4.3.12 and 4.3.16). */
import { type ByteSource } from './byte-source.ts'

export interface ZipEntry {
  readonly name: string
  readonly compressedSize: number
  /** As declared: a hostile file may lie, so memory is watched as well. */
  readonly uncompressedSize: number
  /** 0 for bytes as they are, 8 for deflated ones. */
  readonly method: number
  /** Where the entry's own header begins in the file. */
  readonly offset: number
}

const END_SIGNATURE = 0x06054b50
const ENTRY_SIGNATURE = 0x02014b50
const END_LENGTH = 22
const LONGEST_COMMENT = 65_535
/** Far more entries than any document has; what declares more is not read. */
const LONGEST_DIRECTORY = 8 * 1024 * 1024

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Lists the entries, or answers undefined where the bytes are no whole zip file. */
export async function listZipEntries(source: ByteSource): Promise<ZipEntry[] | undefined> {
  const tailStart = Math.max(0, source.size - END_LENGTH - LONGEST_COMMENT)
  const tail = viewOf(await source.read(tailStart, source.size - tailStart))
  for (let at = tail.byteLength - END_LENGTH; at >= 0; at -= 1) {
    if (tail.getUint32(at, true) !== END_SIGNATURE) continue
    const length = tail.getUint32(at + 12, true)
    const start = tail.getUint32(at + 16, true)
    if (length > LONGEST_DIRECTORY || start + length > source.size) return undefined
    return parseDirectory(await source.read(start, length), tail.getUint16(at + 10, true))
  }
  return undefined
}

function parseDirectory(bytes: Uint8Array, count: number): ZipEntry[] | undefined {
  const view = viewOf(bytes)
  const entries: ZipEntry[] = []
  for (let at = 0; entries.length < count;) {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== ENTRY_SIGNATURE) return undefined
    const nameLength = view.getUint16(at + 28, true)
    entries.push({
      name: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength)),
      compressedSize: view.getUint32(at + 20, true),
      uncompressedSize: view.getUint32(at + 24, true),
      method: view.getUint16(at + 10, true),
      offset: view.getUint32(at + 42, true),
    })
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}
