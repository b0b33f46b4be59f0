/** The central directory of a zip file (APPNOTE.TXT 4.3.12, 4.3.14 and 4.3.16). */
import type { ByteSource } from './byte-source.ts'

export interface ZipEntry {
  readonly name: string
  readonly compressedSize: number
  /** As declared; a hostile file may lie. */
  readonly uncompressedSize: number
  readonly method: number
  readonly offset: number
}

const END_SIGNATURE = 0x06054b50
const ENTRY_SIGNATURE = 0x02014b50
const END_LENGTH = 22
const ZIP64_END_SIGNATURE = 0x06064b50
const ZIP64_END_LENGTH = 56
const LOCATOR_SIGNATURE = 0x07064b50
const LOCATOR_LENGTH = 20
/** A 4-byte field with this value refers to the ZIP64 extra field. */
const ZIP64_MARKER = 0xffffffff
const ZIP64_EXTRA_ID = 1
const MAX_COMMENT_BYTES = 65_535
const MAX_DIRECTORY_BYTES = 8 * 1024 * 1024

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Returns undefined if the bytes are not a complete zip file. */
export async function listZipEntries(source: ByteSource): Promise<ZipEntry[] | undefined> {
  const tailStart = Math.max(0, source.size - END_LENGTH - MAX_COMMENT_BYTES)
  const tail = viewOf(await source.read(tailStart, source.size - tailStart))
  for (let at = tail.byteLength - END_LENGTH; at >= 0; at -= 1) {
    if (tail.getUint32(at, true) !== END_SIGNATURE) continue
    const { count, length, start } = (await readZip64End(source, tail, at)) ?? {
      count: tail.getUint16(at + 10, true),
      length: tail.getUint32(at + 12, true),
      start: tail.getUint32(at + 16, true),
    }
    if (length > MAX_DIRECTORY_BYTES || start + length > source.size) return undefined
    return parseDirectory(await source.read(start, length), count)
  }
  return undefined
}

async function readZip64End(
  source: ByteSource,
  tail: DataView,
  end: number,
): Promise<{ readonly count: number; readonly length: number; readonly start: number } | undefined> {
  const locator = end - LOCATOR_LENGTH
  if (locator < 0 || tail.getUint32(locator, true) !== LOCATOR_SIGNATURE) return undefined
  const at = readUint64(tail, locator + 8)
  if (at + ZIP64_END_LENGTH > source.size) return undefined
  const view = viewOf(await source.read(at, ZIP64_END_LENGTH))
  if (view.getUint32(0, true) !== ZIP64_END_SIGNATURE) return undefined
  return { count: readUint64(view, 32), length: readUint64(view, 40), start: readUint64(view, 48) }
}

const readUint64 = (view: DataView, at: number): number => Number(view.getBigUint64(at, true))

function parseDirectory(bytes: Uint8Array, count: number): ZipEntry[] | undefined {
  const view = viewOf(bytes)
  const entries: ZipEntry[] = []
  for (let at = 0; entries.length < count;) {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== ENTRY_SIGNATURE) return undefined
    const nameLength = view.getUint16(at + 28, true)
    const extraStart = at + 46 + nameLength
    const extraEnd = extraStart + view.getUint16(at + 30, true)
    const [uncompressedSize = 0, compressedSize = 0, offset = 0] = readZip64Values(
      [view.getUint32(at + 24, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true)],
      viewOf(bytes.subarray(extraStart, extraEnd)),
    )
    entries.push({
      name: normaliseName(new TextDecoder().decode(bytes.subarray(at + 46, extraStart))),
      compressedSize,
      uncompressedSize,
      method: view.getUint16(at + 10, true),
      offset,
    })
    at = extraEnd + view.getUint16(at + 32, true)
  }
  return entries
}

/** Old Windows libraries write backslashes, others a leading slash; Office accepts both. */
const normaliseName = (name: string): string => name.replaceAll('\\', '/').replace(/^\/+/, '')

function readZip64Values(values: readonly number[], extra: DataView): number[] {
  let [at, end] = [0, 0]
  while (end + 4 <= extra.byteLength) {
    at = end + 4
    end = at + extra.getUint16(end + 2, true)
    if (extra.getUint16(at - 4, true) === ZIP64_EXTRA_ID) break
    at = end
  }
  return values.map((value) => {
    if (value !== ZIP64_MARKER || at + 8 > Math.min(end, extra.byteLength)) return value
    at += 8
    return readUint64(extra, at - 8)
  })
}
