/** Compound files (MS-CFB): legacy Office documents, and the wrapping of modern ones that carry a password. */
import { type ByteSource } from './byte-source.ts'

const SIGNATURE = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]
const HEADER_BYTES = 512
const ENTRY_BYTES = 128
const DIRECTORY_BYTES = 4_096

export const isOleFile = (head: Uint8Array): boolean => SIGNATURE.every((byte, index) => head[index] === byte)

interface OleStream {
  /** In lower case. */
  readonly name: string
  /** Where its first sector lies in the file. Wrong for streams of less than 4,096 bytes, which are kept elsewhere. */
  readonly offset: number
}

/** The first streams of the directory; every writer puts the main ones there ("worddocument", "workbook"). */
async function listOleStreams(source: ByteSource): Promise<OleStream[]> {
  const head = await source.read(0, HEADER_BYTES)
  if (!isOleFile(head) || head.byteLength < HEADER_BYTES) return []
  const header = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const sectorBytes = 2 ** Math.min(header.getUint16(30, true), 12)
  const directory = await source.read(
    (header.getUint32(48, true) + 1) * sectorBytes,
    Math.max(sectorBytes, DIRECTORY_BYTES),
  )
  const view = new DataView(directory.buffer, directory.byteOffset, directory.byteLength)
  const streams: OleStream[] = []
  for (let at = 0; at + ENTRY_BYTES <= view.byteLength; at += ENTRY_BYTES) {
    const nameBytes = view.getUint16(at + 64, true)
    if (nameBytes < 4 || nameBytes > 64) continue
    streams.push({
      name: new TextDecoder('utf-16le').decode(directory.subarray(at, at + nameBytes - 2)).toLowerCase(),
      offset: (view.getUint32(at + 116, true) + 1) * sectorBytes,
    })
  }
  return streams
}

/** Names of the first streams, in lower case. */
export const oleStreamNames = async (source: ByteSource): Promise<string[]> =>
  (await listOleStreams(source)).map(({ name }) => name)

const WORD_97 = 0xa5ec
const WORD_95 = 0xa5dc
const ENCRYPTED_FLAG = 0x0100

/** What the first bytes of a Word document say (MS-DOC 2.5.2), undefined where they are not those of one. */
export async function readWordHeader(
  source: ByteSource,
): Promise<{ readonly isOld: boolean; readonly isEncrypted: boolean } | undefined> {
  const stream = (await listOleStreams(source)).find(({ name }) => name === 'worddocument')
  const bytes = stream && (await source.read(stream.offset, 12))
  if (!bytes || bytes.byteLength < 12) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const magic = view.getUint16(0, true)
  if (magic !== WORD_97 && magic !== WORD_95) return undefined
  return { isOld: magic === WORD_95, isEncrypted: (view.getUint16(10, true) & ENCRYPTED_FLAG) !== 0 }
}
