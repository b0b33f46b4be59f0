import { clipRuns, type Run } from './runs.ts'

export interface Piece {
  readonly start: number
  readonly length: number
  readonly width: 1 | 2
  /** One UTF-16 code unit per position; U+0000 is invisible. */
  readonly decode: () => string
}

export interface WordLayout {
  /** Offset of the lengths of the parts in the header. */
  readonly lengths: number
  readonly pieces: readonly Piece[]
  readonly characters: readonly Run[]
  readonly isDeleted: (run: Run) => boolean
  readonly isHidden: (run: Run) => boolean
  readonly symbolDecoderFor: (run: Run) => ((character: string) => string) | undefined
  /** The value of the form field whose data a run holds. */
  readonly formValueOf: (run: Run) => string | undefined
  readonly paragraphs: readonly Run[]
  readonly endsRow: (run: Pick<Run, 'properties'>) => boolean
  readonly isInTable: (run: Pick<Run, 'properties'>) => boolean
  /** Returns a function that counts paragraphs and returns labels. @throws RangeError if the tables are broken. */
  readonly numbering: () => (style: number, properties: Uint8Array) => string
}

export interface ParagraphEnd extends Pick<Run, 'style' | 'properties'> {
  readonly at: number
}

const CELL_END = '\u0007'
const PARAGRAPH_END = '\r'
const PARAGRAPH_ENDS: readonly string[] = [PARAGRAPH_END, '\f', '\n', CELL_END]
const LINE_ENDS_IN_CELL = /[\r\v]/g
/** Lines of a cell with a longer paragraph stay apart: its table may lay out whole pages. */
const MAX_CELL_LINE = 100
/** Bounds the memory that a broken table can claim. */
const MAX_CHARACTERS = 30_000_000

const FIELD_DATA = '\u0001'
/** Private use: stands in the text for the value of a form field, by its number. */
export const FIRST_FORM_VALUE = 0xe000
const MAX_FORM_VALUES = 0x1000

interface JoinedPieces {
  /** One UTF-16 code unit per position, U+0000 for deleted or hidden text. */
  readonly text: string
  /** In order. */
  readonly ends: readonly ParagraphEnd[]
  readonly formValues: readonly string[]
}

interface PiecesOptions {
  readonly keepsDeleted: boolean
  /**
   * Characters of the body. Lines of cells behind it (headers, footers) stay apart: they are compared with the text, and
   * page numbers left out.
   */
  readonly bodyLength: number
}

export function joinPieces(
  {
    pieces,
    characters,
    isDeleted,
    isHidden,
    symbolDecoderFor: readSigns,
    formValueOf,
    paragraphs,
    endsRow,
    isInTable,
  }: WordLayout,
  { keepsDeleted, bodyLength }: PiecesOptions,
): JoinedPieces {
  const deleted = keepsDeleted ? [] : characters.filter(isDeleted)
  const hidden = keepsDeleted ? [] : characters.filter(isHidden)
  const signs = characters.flatMap((run) => {
    const read = readSigns(run)
    return read ? [{ ...run, read }] : []
  })
  const formValues: string[] = []
  const valued = characters.flatMap((run) => {
    const value = formValueOf(run)
    return value === undefined || value === '' ? [] : [{ ...run, value }]
  })
  const ends: ParagraphEnd[] = []
  let text = ''
  for (const { start, length, width, decode } of pieces) {
    if (length < 0 || text.length + length > MAX_CHARACTERS) throw new Error('a piece is broken')
    const stretch = { from: start, to: start + length * width }
    const decoded = decode()
    const written = Array.from({ length: decoded.length }, (_, unit) => decoded.charAt(unit))
    for (const { from, to, read } of clipRuns(signs, stretch))
      for (let at = (from - start) / width; at < (to - start) / width; at += 1) written[at] = read(written[at] ?? '')
    for (const { from, to, value } of clipRuns(valued, stretch))
      for (let at = (from - start) / width; at < (to - start) / width; at += 1)
        if (written[at] === FIELD_DATA && formValues.length < MAX_FORM_VALUES)
          written[at] = String.fromCharCode(FIRST_FORM_VALUE + formValues.push(value) - 1)
    for (const range of clipRuns(deleted, stretch))
      written.fill('\0', (range.from - start) / width, (range.to - start) / width)
    // Field and row borders stay, since only half of a field or row may be hidden.
    for (const range of clipRuns(hidden, stretch))
      for (let at = (range.from - start) / width; at < (range.to - start) / width; at += 1)
        if ((written[at] ?? '') >= ' ') written[at] = '\0'
    for (const { to, style, properties } of clipRuns(paragraphs, stretch)) {
      const last = Math.floor((to - start) / width) - 1
      if (written[last] === CELL_END && endsRow({ properties })) written[last] = '\n'
      if (PARAGRAPH_ENDS.includes(written[last] ?? '')) ends.push({ at: text.length + last, style, properties })
    }
    text += written.join('')
  }
  const sorted = ends.toSorted((one, other) => one.at - other.at)
  return { text: joinCellLines(text, sorted, { bodyLength, isInTable }), ends: sorted, formValues }
}

/** Replaces line ends inside cells by spaces of the same length, so that positions stay valid. */
function joinCellLines(
  text: string,
  ends: readonly ParagraphEnd[],
  { bodyLength, isInTable }: Pick<PiecesOptions, 'bodyLength'> & Pick<WordLayout, 'isInTable'>,
): string {
  let joined = ''
  let cellStart = 0
  let paragraphStart = 0
  let areShort = true
  for (const { at, properties } of ends) {
    const isInCell = at < bodyLength && isInTable({ properties })
    areShort &&= isInCell && at - paragraphStart < MAX_CELL_LINE
    paragraphStart = at + 1
    if (isInCell && text[at] === PARAGRAPH_END) continue
    const cell = text.slice(cellStart, paragraphStart)
    joined += areShort ? cell.replaceAll(LINE_ENDS_IN_CELL, ' ') : cell
    cellStart = paragraphStart
    areShort = true
  }
  return joined + text.slice(cellStart)
}
