/** Layout of Word 6 and 95: one byte per character in a font's code page ("Microsoft Word 6.0 Binary File Format"). */
import type { Piece, WordLayout } from './pieces.ts'
import { listWord95Properties, createView } from './properties.ts'
import { listRuns, clipRuns, readCharacterRun, readParagraphRun, type Run, type ByteRange, turnsOn } from './runs.ts'

const HEADER = {
  flags: 0x0a,
  characterSet: 0x14,
  text: 0x18,
  textEnd: 0x1c,
  lengths: 0x34,
  characterRuns: 0xb8,
  paragraphRuns: 0xc0,
  fonts: 0xd0,
  pieces: 0x160,
  characterBlocks: { first: 0x18a, count: 0x18e },
  paragraphBlocks: { first: 0x18c, count: 0x190 },
} as const
const IN_PIECES_FLAG = 0x0004
const MARKED_DELETED = 65
const HIDDEN = 92
const ENDS_ROW = 25
const IN_TABLE = 24
const FONT = 93
const PARAGRAPH_ENTRY_BYTES = 7
const MACINTOSH = 256

/** By the font's character set (MS-WMF 2.1.1.5). */
const CODE_PAGES: Readonly<Record<number, string>> = {
  0: 'windows-1252',
  77: 'macintosh',
  128: 'shift_jis',
  129: 'euc-kr',
  134: 'gbk',
  136: 'big5',
  161: 'windows-1253',
  162: 'windows-1254',
  163: 'windows-1258',
  177: 'windows-1255',
  178: 'windows-1256',
  186: 'windows-1257',
  204: 'windows-1251',
  222: 'windows-874',
  238: 'windows-1250',
}
const DEFAULT_CODE_PAGE = 'windows-1252'

export function readWord95Layout(document: Uint8Array): WordLayout {
  const characters = listRuns(
    document,
    listBlocks(document, HEADER.characterRuns, HEADER.characterBlocks),
    readCharacterRun,
  )
  const decode = createDecoder(document, characters)
  return {
    lengths: HEADER.lengths,
    pieces: readPieces(document, decode),
    characters,
    isDeleted: turnsOn(MARKED_DELETED, listWord95Properties),
    isHidden: turnsOn(HIDDEN, listWord95Properties),
    symbolDecoderFor: () => undefined,
    formValueOf: () => undefined,
    paragraphs: listRuns(
      document,
      listBlocks(document, HEADER.paragraphRuns, HEADER.paragraphBlocks),
      readParagraphRun(PARAGRAPH_ENTRY_BYTES),
    ),
    endsRow: turnsOn(ENDS_ROW, listWord95Properties),
    isInTable: turnsOn(IN_TABLE, listWord95Properties),
    // Each paragraph holds its own numbering, which is not read.
    numbering: () => () => '',
  }
}

/** A table lists the blocks unless it is outdated; then they are consecutive. */
function listBlocks(
  document: Uint8Array,
  offset: number,
  blocks: { readonly first: number; readonly count: number },
): number[] {
  const header = createView(document)
  const [start, length] = [header.getUint32(offset, true), header.getUint32(offset + 4, true)]
  const listed = Math.max(0, Math.floor((length - 4) / 6))
  const [first, count] = [header.getUint16(blocks.first, true), header.getUint16(blocks.count, true)]
  if (listed < count) return Array.from({ length: count }, (_, index) => first + index)
  const table = createView(document.subarray(start, start + length))
  return Array.from({ length: listed }, (_, index) => table.getUint16((listed + 1) * 4 + index * 2, true))
}

function readPieces(document: Uint8Array, decode: (stretch: ByteRange) => string): Piece[] {
  const header = createView(document)
  const pieceOf = (start: number, length: number): Piece => ({
    start,
    length,
    width: 1,
    decode: () => decode({ from: start, to: start + length }),
  })
  const [start, end] = [header.getUint32(HEADER.text, true), header.getUint32(HEADER.textEnd, true)]
  let at = header.getUint32(HEADER.pieces, true)
  const clxEnd = at + header.getUint32(HEADER.pieces + 4, true)
  if ((header.getUint16(HEADER.flags, true) & IN_PIECES_FLAG) === 0) return [pieceOf(start, end - start)]
  while (at < clxEnd && header.getUint8(at) === 1) at += 3 + header.getUint16(at + 1, true)
  if (header.getUint8(at) !== 2) throw new Error('the table of pieces is broken')
  const count = Math.floor((header.getUint32(at + 1, true) - 4) / 12)
  const positions = at + 5
  const descriptors = positions + (count + 1) * 4
  return Array.from({ length: Math.max(0, count) }, (_, piece) => {
    const from = header.getUint32(positions + piece * 4, true)
    const to = header.getUint32(positions + piece * 4 + 4, true)
    return pieceOf(header.getUint32(descriptors + piece * 8 + 2, true), to - from)
  })
}

/** Decodes each run in the code page of its font; a two-byte character is followed by U+0000. */
function createDecoder(document: Uint8Array, characters: readonly Run[]): (stretch: ByteRange) => string {
  const pages = readFontCodePages(document)
  const pageOf = (run: Run): string | undefined => {
    for (const { number, operand } of listWord95Properties(run.properties))
      if (number === FONT) return pages[operand.getUint16(0, true)]
    return undefined
  }
  const usual = usualCodePage(document, characters, pageOf)
  return (stretch) => {
    const written = decodeAs(usual, document.subarray(stretch.from, stretch.to))
    for (const run of clipRuns(characters, stretch)) {
      const page = pageOf(run)
      if (page === undefined || page === usual) continue
      for (const [index, character] of decodeAs(page, document.subarray(run.from, run.to)).entries())
        written[run.from - stretch.from + index] = character
    }
    return written.join('')
  }
}

function readFontCodePages(document: Uint8Array): (string | undefined)[] {
  const header = createView(document)
  const start = header.getUint32(HEADER.fonts, true)
  const fonts = createView(document.subarray(start, start + header.getUint32(HEADER.fonts + 4, true)))
  const pages: (string | undefined)[] = []
  for (let at = 2; at + 5 < fonts.byteLength; at += fonts.getUint8(at) + 1)
    pages.push(CODE_PAGES[fonts.getUint8(at + 4)])
  return pages
}

/** Code page for runs whose font only their style names: the one of most other non-ASCII text. */
function usualCodePage(
  document: Uint8Array,
  characters: readonly Run[],
  pageOf: (run: Run) => string | undefined,
): string {
  if (createView(document).getUint16(HEADER.characterSet, true) === MACINTOSH) return 'macintosh'
  const letters = new Map<string, number>()
  for (const run of characters) {
    const page = pageOf(run)
    if (page === undefined) continue
    const beyond = document.subarray(run.from, run.to).filter((byte) => byte >= 0x80).length
    letters.set(page, (letters.get(page) ?? 0) + beyond)
  }
  const [[usual, count] = [DEFAULT_CODE_PAGE, 0]] = [...letters].toSorted(([, one], [, other]) => other - one)
  return count > 0 ? usual : (readFontCodePages(document)[0] ?? DEFAULT_CODE_PAGE)
}

const NOTHING = '\0'

function decodeAs(page: string, bytes: Uint8Array): string[] {
  const decoder = new TextDecoder(page)
  const whole = decoder.decode(bytes)
  if (whole.length === bytes.length) return Array.from({ length: whole.length }, (_, index) => whole.charAt(index))
  return Array.from(bytes, (byte) => decoder.decode(Uint8Array.of(byte), { stream: true }) || NOTHING)
}
