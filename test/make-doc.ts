/** Makes small Word documents of 1997 to 2003 from pieces of text in a chosen order (MS-DOC). */
import { compoundFiles } from '#server/parsing/containers/compound-file.ts'

export interface DocPiece {
  readonly text: string
  /** One byte per character (Windows-1252) instead of two. */
  readonly isNarrow?: boolean
  /** Deleted under revision, but still in the file. */
  readonly isDeleted?: boolean
  readonly isHidden?: boolean
  /** Code of a Symbol character; the text holds a bracket in its place. */
  readonly sign?: number
  readonly isInSymbol?: boolean
  /** Data of a form field, whose place the text U+0001 stands for. */
  readonly form?: Buffer
  /** List level from 0: "1.", "1.1", "(a)", a bullet. */
  readonly level?: number
  /** `LISTED` is on the first level; `LISTED_TOO` is based on it. */
  readonly style?: number
  /** Its paragraph is in a table: it ends inside a cell, at the end of one, or at the end of a row. */
  readonly inTable?: 'cell' | 'row'
}

export const LISTED = 1
export const LISTED_TOO = 2

const BLOCK_BYTES = 512
const PARAGRAPH_BLOCK = 2
const TEXT_BLOCK = 4

const words = (...values: readonly number[]): Buffer => Buffer.from(new Uint16Array(values).buffer)
const longs = (...values: readonly number[]): Buffer => Buffer.from(new Uint32Array(values).buffer)

const onLevel = (level: number): Buffer => Buffer.concat([words(0x260a), Buffer.from([level]), words(0x460b, 1)])

/** `sprmPFInTable`, and `sprmPFTtp` at the end of a row. */
const IN_TABLE = {
  cell: Buffer.from([0x16, 0x24, 1]),
  row: Buffer.from([0x16, 0x24, 1, 0x17, 0x24, 1]),
} as const

/** MS-DOC 2.9.175. */
function paragraphBlock(pieces: readonly (DocPiece & { readonly start: number })[], end: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES)
  longs(...pieces.map(({ start }) => start), end).copy(block)
  let at = BLOCK_BYTES - 2
  pieces.forEach(({ level, style = 0, inTable }, index) => {
    const place = inTable === undefined ? Buffer.alloc(0) : IN_TABLE[inTable]
    const properties = Buffer.concat([words(style), level === undefined ? Buffer.alloc(0) : onLevel(level), place])
    at -= 2 + properties.length + (properties.length % 2)
    at -= at % 2
    block[at + 1] = Math.ceil(properties.length / 2)
    properties.copy(block, at + 2)
    block[(pieces.length + 1) * 4 + index * 13] = at / 2
  })
  block[BLOCK_BYTES - 1] = pieces.length
  return block
}

/** Three paragraph styles: plain, in the list, and one based on the second (MS-DOC 2.9.271). */
function styleSheet(): Buffer {
  const style = (base: number, properties: Buffer) => {
    const head = words(0, 1 | (base << 4), 1, 0, 0)
    const body = Buffer.concat([head, words(1, 0x78, 0), words(2 + properties.length, 0), properties])
    return Buffer.concat([words(body.length), body, Buffer.alloc(body.length % 2)])
  }
  const none = 0xfff
  return Buffer.concat([
    words(4, 3, 10),
    style(none, Buffer.alloc(0)),
    style(none, words(0x460b, 1)),
    style(LISTED, Buffer.alloc(0)),
  ])
}

/** One list of nine levels and its override (MS-DOC 2.9.147, 2.9.150, 2.9.138). */
function listTables(): { readonly lists: Buffer; readonly names: Buffer } {
  const id = 77
  const level = (format: number, ...text: readonly number[]) => {
    const head = Buffer.alloc(28)
    head.writeUInt32LE(1, 0)
    head[4] = format
    return Buffer.concat([head, words(text.length, ...text)])
  }
  const [dot, opening, closing] = [0x2e, 0x28, 0x29]
  const shown = [level(0, 0, dot), level(0, 0, dot, 1), level(4, opening, 2, closing)]
  const list = Buffer.alloc(28)
  list.writeInt32LE(id)
  const bullets = Array.from({ length: 6 }, () => level(23, 0xb7))
  const name = Buffer.alloc(16)
  name.writeInt32LE(id)
  return {
    lists: Buffer.concat([words(1), list, ...shown, ...bullets]),
    names: Buffer.concat([longs(1), name, longs(0xffffffff)]),
  }
}

const PLAIN_FONT = 0
const SYMBOL_FONT = 1

/** MS-DOC 2.9.286, 2.9.87. */
function fontTable(): Buffer {
  const fonts = ['Times', 'Symbol'].map((name) => {
    const font = Buffer.concat([Buffer.alloc(39), Buffer.from(`${name}\0`, 'utf16le')])
    return Buffer.concat([Buffer.from([font.length]), font])
  })
  return Buffer.concat([words(fonts.length, 0), ...fonts])
}

const PLACE_OF_DATA = 0x6a03

function characterProperties({ isDeleted, isHidden, sign, isInSymbol, formAt }: StoredPiece): Buffer {
  if (formAt !== undefined) return Buffer.concat([words(PLACE_OF_DATA), longs(formAt)])
  if (isHidden) return Buffer.from([0x3c, 0x08, 0x81])
  if (isDeleted) return Buffer.from([0x00, 0x08, 0x81])
  if (sign !== undefined) return words(0x4a4f, PLAIN_FONT, 0x6a09, SYMBOL_FONT, sign)
  return isInSymbol ? words(0x4a4f, SYMBOL_FONT) : Buffer.alloc(0)
}

interface StoredPiece extends DocPiece {
  readonly formAt?: number | undefined
}

const endedText = (text: string): Buffer => Buffer.concat([words(text.length), Buffer.from(`${text}\0`, 'utf16le')])

export interface DropdownField {
  readonly entries: readonly string[]
  /** 25: the default was left. */
  readonly chosen: number
  readonly preset?: number
}

/** MS-DOC 2.9.78. */
export function makeDropdown({ entries, chosen, preset = 0 }: DropdownField): Buffer {
  const list = entries.map((entry) => Buffer.concat([words(entry.length), Buffer.from(entry, 'utf16le')]))
  const texts = ['', '', '', '', ''].map(endedText)
  const begin = [longs(0xff_ff_ff_ff), words(2 | (chosen << 2), 0, 0), endedText('Choice'), words(preset)]
  return Buffer.concat([...begin, ...texts, words(0xffff, entries.length, 0), ...list])
}

/** MS-DOC 2.9.78. */
export const makeTextField = (preset: string): Buffer =>
  Buffer.concat([longs(0xff_ff_ff_ff), words(0, 0, 0), endedText('Name'), endedText(preset)])

/** MS-DOC 2.9.158 */
function formData(form: Buffer): Buffer {
  const header = Buffer.alloc(0x44)
  header.writeUInt32LE(header.length + form.length)
  header.writeUInt16LE(header.length, 4)
  return Buffer.concat([header, form])
}

export interface DocParts {
  readonly body: readonly DocPiece[]
  readonly headers?: string
  readonly comments?: string
}

/** The parts are consecutive in the text (MS-DOC 2.5.4). */
export function makeDocWith({ body, headers = '', comments = '' }: DocParts): Uint8Array {
  const length = body.reduce((sum, { text }) => sum + text.length, 0)
  return writeDoc(
    [...body, ...[headers, comments].filter((text) => text !== '').map((text) => ({ text }))],
    [length, 0, headers.length, 0, comments.length],
  )
}

/** Stores the pieces in reverse order, as they may be after many fast saves. */
export const makeDoc = (pieces: readonly DocPiece[]): Uint8Array =>
  writeDoc(pieces, [pieces.reduce((sum, { text }) => sum + text.length, 0)])

/** @param lengths of the parts of the text, the body first. */
function writeDoc(pieces: readonly DocPiece[], lengths: readonly number[]): Uint8Array {
  let at = TEXT_BLOCK * BLOCK_BYTES
  let data = Buffer.from('picture')
  const stored = pieces.toReversed().map((piece) => {
    const bytes = Buffer.from(piece.text, piece.isNarrow === true ? 'latin1' : 'utf16le')
    const start = at
    at += bytes.length
    const formAt = piece.form && data.length
    if (piece.form) data = Buffer.concat([data, formData(piece.form)])
    return { ...piece, bytes, start, formAt }
  })
  const document = Buffer.alloc(Math.max(at, 8 * BLOCK_BYTES))
  for (const { bytes, start } of stored) bytes.copy(document, start)
  document.writeUInt16LE(0xa5ec, 0)
  document.writeUInt16LE(0x0200, 0x0a)
  longs(...lengths).copy(document, 0x4c)

  const runs = Buffer.alloc(BLOCK_BYTES)
  let free = BLOCK_BYTES - 2
  stored.forEach((piece, index) => {
    runs.writeUInt32LE(piece.start, index * 4)
    const properties = characterProperties(piece)
    if (properties.length === 0) return
    free -= 1 + properties.length
    free -= free % 2
    runs[(stored.length + 1) * 4 + index] = free / 2
    runs[free] = properties.length
    properties.copy(runs, free + 1)
  })
  runs.writeUInt32LE(at, stored.length * 4)
  runs[BLOCK_BYTES - 1] = stored.length
  runs.copy(document, BLOCK_BYTES)

  paragraphBlock(stored, at).copy(document, PARAGRAPH_BLOCK * BLOCK_BYTES)

  const table = Buffer.alloc(4_096)
  table.writeUInt32LE(1, 8)
  document.writeUInt32LE(0, 0xfa)
  document.writeUInt32LE(12, 0xfe)
  const { lists, names } = listTables()
  let freeInTable = 2_048
  for (const [offset, part] of [
    [0x102, longs(0, at, PARAGRAPH_BLOCK)],
    [0x112, fontTable()],
    [0xa2, styleSheet()],
    [0x2e2, lists],
    [0x2ea, names],
  ] as const) {
    part.copy(table, freeInTable)
    longs(freeInTable, part.length).copy(document, offset)
    freeInTable += part.length
  }
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
  if (pieces.some(({ form }) => form !== undefined)) utils.cfb_add(file, '/Data', data)
  return Uint8Array.from(write(file, { type: 'array' }))
}
