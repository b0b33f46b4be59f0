/** Lists stream names of compound files (MS-CFB) from two sectors; the CFB library needs the whole file in memory. */
import type { ByteSource } from './byte-source.ts'

const SIGNATURE = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]
const HEADER_BYTES = 512
const ENTRY_BYTES = 128
const DIRECTORY_BYTES = 4_096

export const isCompoundFile = (head: Uint8Array): boolean => SIGNATURE.every((byte, index) => head[index] === byte)

export async function listStreamNames(source: ByteSource): Promise<string[]> {
  const head = await source.read(0, HEADER_BYTES)
  if (!isCompoundFile(head) || head.byteLength < HEADER_BYTES) return []
  const header = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const sectorBytes = 2 ** Math.min(header.getUint16(30, true), 12)
  const directory = await source.read(
    (header.getUint32(48, true) + 1) * sectorBytes,
    Math.max(sectorBytes, DIRECTORY_BYTES),
  )
  const view = new DataView(directory.buffer, directory.byteOffset, directory.byteLength)
  const names: string[] = []
  for (let at = 0; at + ENTRY_BYTES <= view.byteLength; at += ENTRY_BYTES) {
    const nameBytes = view.getUint16(at + 64, true)
    if (nameBytes < 4 || nameBytes > 64) continue
    names.push(new TextDecoder('utf-16le').decode(directory.subarray(at, at + nameBytes - 2)).toLowerCase())
  }
  return names
}
