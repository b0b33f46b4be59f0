/** Small Word documents of the years 1997 to 2003 for tests: chosen pieces of text in chosen order (MS-DOC). */
import { compoundFiles } from '#server/documents/parse/compound-file.ts'

export interface DocPiece {
  readonly text: string
  /** One byte for each character (Windows-1252) in place of two. */
  readonly isNarrow?: boolean
  /** Deleted under revision, and still there. */
  readonly isDeleted?: boolean
}

const BLOCK_BYTES = 512
const TEXT_BLOCK = 4

/** The pieces stand in the file from the last to the first, as they may after many quick saves. */
export function makeDoc(pieces: readonly DocPiece[]): Uint8Array {
  let at = TEXT_BLOCK * BLOCK_BYTES
  const stored = pieces.toReversed().map((piece) => {
    const bytes = Buffer.from(piece.text, piece.isNarrow === true ? 'latin1' : 'utf16le')
    const start = at
    at += bytes.length
    return { ...piece, bytes, start }
  })
  const document = Buffer.alloc(Math.max(at, 8 * BLOCK_BYTES))
  for (const { bytes, start } of stored) bytes.copy(document, start)
  document.writeUInt16LE(0xa5ec, 0)
  document.writeUInt16LE(0x0200, 0x0a)
  document.writeUInt32LE(
    pieces.reduce((sum, { text }) => sum + text.length, 0),
    0x4c,
  )

  const runs = Buffer.alloc(BLOCK_BYTES)
  stored.forEach(({ start, isDeleted = false }, index) => {
    runs.writeUInt32LE(start, index * 4)
    if (!isDeleted) return
    runs[(stored.length + 1) * 4 + index] = 200
    Buffer.from([3, 0x00, 0x08, 0x81]).copy(runs, 400)
  })
  runs.writeUInt32LE(at, stored.length * 4)
  runs[BLOCK_BYTES - 1] = stored.length
  runs.copy(document, BLOCK_BYTES)

  const table = Buffer.alloc(4_096)
  table.writeUInt32LE(1, 8)
  document.writeUInt32LE(0, 0xfa)
  document.writeUInt32LE(12, 0xfe)
  document.writeUInt32LE(100, 0x1a2)
  const inOrder = stored.toReversed()
  table[100] = 2
  table.writeUInt32LE(inOrder.length * 12 + 4, 101)
  let position = 0
  inOrder.forEach(({ text, start, isNarrow = false }, index) => {
    position += text.length
    table.writeUInt32LE(position, 105 + (index + 1) * 4)
    const place = isNarrow ? (start * 2) | 0x40000000 : start
    table.writeUInt32LE(place, 105 + (inOrder.length + 1) * 4 + index * 8 + 2)
  })
  const { utils, write } = compoundFiles
  const file = utils.cfb_new()
  utils.cfb_add(file, '/WordDocument', document)
  utils.cfb_add(file, '/1Table', table)
  return Uint8Array.from(write(file, { type: 'array' }))
}
