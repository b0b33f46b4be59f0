/** Makes small documents of Word 6 and 95 ("Microsoft Word 6.0 Binary File Format"). */
import { compoundFiles } from '#server/parsing/containers/compound-file.ts'

export interface OldDocRun {
  readonly bytes: Uint8Array
  /** Index of its font; without one the style names it. */
  readonly font?: number
  readonly isDeleted?: boolean
  /** Its paragraph ends a table row. */
  readonly endsRow?: boolean
  /** Its paragraph is inside a cell. */
  readonly isInCell?: boolean
}

export interface OldDoc {
  readonly runs: readonly OldDocRun[]
  /** The character set of each font (MS-WMF 2.1.1.5). */
  readonly fonts?: readonly number[]
  readonly headers?: string
  /** As after a fast save: each run is a piece, in reverse file order. */
  readonly isInPieces?: boolean
  readonly isMacintosh?: boolean
}

const BLOCK_BYTES = 512
const [TEXT_BLOCK, CHARACTER_BLOCK, PARAGRAPH_BLOCK, TABLES_BLOCK] = [2, 4, 5, 6] as const

const words = (...values: readonly number[]): Buffer => Buffer.from(new Uint16Array(values).buffer)
const longs = (...values: readonly number[]): Buffer => Buffer.from(new Uint32Array(values).buffer)

type Placed = OldDocRun & { readonly start: number }

function formattingBlock(
  runs: readonly Placed[],
  end: number,
  { entryBytes, encode }: { readonly entryBytes: number; readonly encode: (run: OldDocRun) => Buffer },
): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES)
  longs(...runs.map(({ start }) => start), end).copy(block)
  let at = BLOCK_BYTES - 2
  runs.forEach((run, index) => {
    const encoded = encode(run)
    if (encoded.length === 0) return
    at -= encoded.length + ((at - encoded.length) % 2)
    encoded.copy(block, at)
    block[(runs.length + 1) * 4 + index * entryBytes] = at / 2
  })
  block[BLOCK_BYTES - 1] = runs.length
  return block
}

function characterProperties({ font, isDeleted = false }: OldDocRun): Buffer {
  const properties = [...(isDeleted ? [65, 1] : []), ...(font === undefined ? [] : [93, font, 0])]
  return Buffer.from(properties.length === 0 ? [] : [properties.length, ...properties])
}

/** `sprmPFInTable`, `sprmPTtp` and the table definition, after their length in words and the style. */
function paragraphProperties({ endsRow = false, isInCell = false }: OldDocRun): Buffer {
  if (endsRow) return Buffer.from([6, 0, 0, 24, 1, 190, 3, 0, 1, 0, 25, 1])
  return Buffer.from(isInCell ? [3, 0, 0, 24, 1, 0] : [1, 0, 0])
}

const fontTable = (sets: readonly number[]): Buffer => {
  const fonts = sets.map((set) => Buffer.from([9, 0, 0, 0, set, 0, ...Buffer.from('Font')]))
  const length = fonts.reduce((sum, font) => sum + font.length, 2)
  return Buffer.concat([words(length), ...fonts])
}

function pieceTable(runs: readonly Placed[]): Buffer {
  let position = 0
  const positions = [0, ...runs.map(({ bytes }) => (position += bytes.length))]
  const descriptors = runs.map(({ start }) => Buffer.concat([words(0), longs(start), words(0)]))
  const table = Buffer.concat([longs(...positions), ...descriptors])
  return Buffer.concat([Buffer.from([2]), longs(table.length), table])
}

/** The tables may list no formatting block: the blocks are then consecutive. */
export function makeOldDoc({
  runs,
  fonts = [0],
  headers = '',
  isInPieces = false,
  isMacintosh = false,
}: OldDoc): Uint8Array {
  let end = TEXT_BLOCK * BLOCK_BYTES
  const all = [...runs, ...(headers === '' ? [] : [{ bytes: Buffer.from(headers, 'latin1') }])]
  const inFile = (isInPieces ? all.toReversed() : all).map((run): Placed => {
    const start = end
    end += run.bytes.length
    return { ...run, start }
  })
  const document = Buffer.alloc((TABLES_BLOCK + 1) * BLOCK_BYTES)
  for (const { bytes, start } of inFile) document.set(bytes, start)
  formattingBlock(inFile, end, { entryBytes: 1, encode: characterProperties }).copy(
    document,
    CHARACTER_BLOCK * BLOCK_BYTES,
  )
  formattingBlock(inFile, end, { entryBytes: 7, encode: paragraphProperties }).copy(
    document,
    PARAGRAPH_BLOCK * BLOCK_BYTES,
  )
  words(0xa5dc, 104).copy(document)
  document.writeUInt16LE(isInPieces ? 0x0004 : 0, 0x0a)
  document.writeUInt16LE(isMacintosh ? 256 : 0, 0x14)
  longs(TEXT_BLOCK * BLOCK_BYTES, end).copy(document, 0x18)
  longs(
    runs.reduce((sum, { bytes }) => sum + bytes.length, 0),
    0,
    headers.length,
  ).copy(document, 0x34)
  words(CHARACTER_BLOCK, PARAGRAPH_BLOCK, 1, 1).copy(document, 0x18a)
  let free = TABLES_BLOCK * BLOCK_BYTES
  for (const [offset, table] of [
    [0xb8, Buffer.concat([longs(0, end), words(CHARACTER_BLOCK)])],
    [0xc0, longs(0)],
    [0xd0, fontTable(fonts)],
    [0x160, isInPieces ? pieceTable(inFile.toReversed()) : Buffer.alloc(0)],
  ] as const) {
    table.copy(document, free)
    longs(free, table.length).copy(document, offset)
    free += table.length
  }
  const { utils, write } = compoundFiles
  const file = utils.cfb_new()
  utils.cfb_add(file, '/WordDocument', document)
  return Uint8Array.from(write(file, { type: 'array' }))
}
