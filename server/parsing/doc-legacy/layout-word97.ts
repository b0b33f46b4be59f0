/** Layout of Word documents from 1997 to 2003 (MS-DOC). */
import { compoundFiles } from '#server/parsing/containers/compound-file.ts'
import { decodeSymbolFont } from '#server/parsing/symbol-fonts.ts'
import { readFormValue } from './form-values.ts'
import { readWordNumbering } from './lists.ts'
import type { Piece, WordLayout } from './pieces.ts'
import { listProperties, createView } from './properties.ts'
import { listRuns, readCharacterRun, readParagraphRun, turnsOn } from './runs.ts'

const FIB = {
  flags: 0x0a,
  lengths: 0x4c,
  characterRuns: 0xfa,
  paragraphRuns: 0x102,
  fonts: 0x112,
  pieces: 0x1a2,
} as const
const SECOND_TABLE_FLAG = 0x0200
const MARKED_DELETED = 0x0800
const HIDDEN = 0x083c
const ENDS_ROW = 0x2417
const IN_TABLE = 0x2416
/** One symbol character, which replaces a bracket in the text. */
const SYMBOL_CHARACTER = 0x6a09
const FONT = 0x4a4f
const PARAGRAPH_ENTRY_BYTES = 13

export function readWord97Layout(file: object, document: Uint8Array): WordLayout {
  const isSecond = (createView(document).getUint16(FIB.flags, true) & SECOND_TABLE_FLAG) !== 0
  const table = readStream(file, isSecond ? '1Table' : '0Table')
  const blocksAt = (offset: number) => listBlocks(document, table, offset)
  return {
    lengths: FIB.lengths,
    pieces: readPieces(document, table),
    characters: listRuns(document, blocksAt(FIB.characterRuns), readCharacterRun),
    isDeleted: turnsOn(MARKED_DELETED, listProperties),
    isHidden: turnsOn(HIDDEN, listProperties),
    formValueOf: createFormReader(file),
    symbolDecoderFor: createSymbolDecoder(listSymbolFonts(document, table)),
    paragraphs: listRuns(document, blocksAt(FIB.paragraphRuns), readParagraphRun(PARAGRAPH_ENTRY_BYTES)),
    endsRow: turnsOn(ENDS_ROW, listProperties),
    isInTable: turnsOn(IN_TABLE, listProperties),
    numbering: () => readWordNumbering(document, table),
  }
}

/** Documents without pictures and form fields have no such stream. */
function createFormReader(file: object): WordLayout['formValueOf'] {
  const content = compoundFiles.find(file, '/Data')?.content
  if (!content) return () => undefined
  const data = new Uint8Array(content)
  return (run) => readFormValue(run, data)
}

const FONT_NAME = 39

function listSymbolFonts(document: Uint8Array, table: Uint8Array): boolean[] {
  const fib = createView(document)
  const start = fib.getUint32(FIB.fonts, true)
  const fonts = table.subarray(start, start + fib.getUint32(FIB.fonts + 4, true))
  const isSymbolFont: boolean[] = []
  for (let at = 4; at < fonts.length; at += (fonts[at] ?? 0) + 1)
    isSymbolFont.push(
      utf16.decode(fonts.subarray(at + 1 + FONT_NAME, at + 1 + (fonts[at] ?? 0))).startsWith('Symbol\0'),
    )
  return isSymbolFont
}

/** A symbol names its own font; a run of text may use a symbol font as a whole (MS-DOC 2.9.46, 2.6.1). */
function createSymbolDecoder(isSymbol: readonly boolean[]): WordLayout['symbolDecoderFor'] {
  return ({ properties }) => {
    let read: ReturnType<WordLayout['symbolDecoderFor']>
    for (const { number, operand } of listProperties(properties))
      if (number === SYMBOL_CHARACTER) {
        const sign = String.fromCharCode(operand.getUint16(2, true))
        const plain = isSymbol[operand.getUint16(0, true)] === true ? decodeSymbolFont(sign) : sign
        return (character) => (character === '(' ? plain : character)
      } else if (number === FONT) read = isSymbol[operand.getUint16(0, true)] === true ? decodeSymbolFont : undefined
    return read
  }
}

/** Paths start at the root because embedded documents have streams with equal names. */
export function readStream(file: object, name: string): Uint8Array {
  const content = compoundFiles.find(file, `/${name}`)?.content
  if (!content) throw new Error(`the file has no stream ${name}`)
  return new Uint8Array(content)
}

/** The table stream lists the document blocks that hold runs (MS-DOC 2.8.5, 2.8.6). */
function listBlocks(document: Uint8Array, table: Uint8Array, offset: number): number[] {
  const fib = createView(document)
  const start = fib.getUint32(offset, true)
  const entries = createView(table.subarray(start, start + fib.getUint32(offset + 4, true)))
  const count = Math.floor((entries.byteLength - 4) / 8)
  return Array.from(
    { length: Math.max(0, count) },
    (_, index) => entries.getUint32((count + 1 + index) * 4, true) & 0x3fffff,
  )
}

const windows1252 = new TextDecoder('windows-1252')
const utf16 = new TextDecoder('utf-16le')

/** MS-DOC 2.4.1, 2.9.38 */
function readPieces(document: Uint8Array, table: Uint8Array): Piece[] {
  const view = createView(table)
  let at = createView(document).getUint32(FIB.pieces, true)
  while (view.getUint8(at) === 1) at += 3 + view.getUint16(at + 1, true)
  if (view.getUint8(at) !== 2) throw new Error('the table of pieces is broken')
  const count = Math.floor((view.getUint32(at + 1, true) - 4) / 12)
  const positions = at + 5
  const descriptors = positions + (count + 1) * 4
  return Array.from({ length: Math.max(0, count) }, (_, piece) => {
    const from = view.getUint32(positions + piece * 4, true)
    const length = view.getUint32(positions + piece * 4 + 4, true) - from
    const place = view.getUint32(descriptors + piece * 8 + 2, true)
    const isNarrow = (place & 0x40000000) !== 0
    const start = isNarrow ? (place & 0x3fffffff) >>> 1 : place & 0x3fffffff
    const width = isNarrow ? 1 : 2
    const bytes = document.subarray(start, start + Math.max(0, length) * width)
    return { start, length, width, decode: () => (isNarrow ? windows1252 : utf16).decode(bytes) }
  })
}
