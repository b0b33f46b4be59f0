import { CELL_BORDER } from '#contract/cell-border.ts'
import type { PageBlock } from '#contract/document.ts'
import type { Heading, ParsedPage } from './page.ts'

/** The rows of a table are lines; the first holds the column titles, unless the table is a form. */
export interface Block {
  readonly kind: PageBlock['kind']
  readonly text: string
  readonly level?: number
}

const SECTION_CHARACTERS = 3_000
const MIN_SECTION_CHARACTERS = 600
const MAX_HEADING_CHARACTERS = 150
const MAX_HEADER_CHARACTERS = 300

/** Groups blocks into sections that start at headings; sections are numbered as pages. */
export function groupSections(blocks: readonly Block[]): ParsedPage[] {
  const sections: ParsedPage[] = []
  let text = ''
  let written: PageBlock[] = []
  const close = () => {
    const headings = written.filter(({ kind }) => kind === 'heading')
    if (text.trim() !== '')
      sections.push({
        page: sections.length + 1,
        text,
        blocks: written,
        headings: headings.map(({ start, end }): Heading => [
          start,
          text.slice(start, end).slice(0, MAX_HEADING_CHARACTERS),
        ]),
      })
    text = ''
    written = []
  }
  for (const block of blocks) {
    const titles = findTitles(block)
    for (const piece of splitBlock(block, titles)) {
      const isFull = text.length + piece.length > SECTION_CHARACTERS
      if (isFull || (block.kind === 'heading' && text.length >= MIN_SECTION_CHARACTERS)) close()
      const last = written.at(-1)
      const isSameList = block.kind === 'list' && last?.kind === 'list'
      if (text !== '') text += isSameList ? '\n' : '\n\n'
      const start = text.length
      text += piece
      if (isSameList) written[written.length - 1] = { ...last, end: text.length }
      else written.push({ kind: block.kind, start, end: text.length, ...blockDetails(block, titles, piece, start) })
    }
  }
  close()
  return sections
}

/** The first row of a table, unless the table is a form. */
function findTitles({ kind, text }: Block): string | undefined {
  const [first = ''] = text.split('\n', 1)
  return kind === 'table' && namesColumns(first) ? first : undefined
}

function blockDetails(
  { kind, level = 1 }: Block,
  titles: string | undefined,
  piece: string,
  start: number,
): Partial<PageBlock> {
  if (kind === 'heading') return { level }
  const [first = ''] = piece.split('\n', 1)
  return first === titles ? { headerEnd: start + first.length } : {}
}

/** A cell of a form holds a value behind its own label: "Open until: 1 May". */
const LABELLED_VALUE = /^\p{L}[^:：]{0,60}(?:：\s*|:\s+)\S/u

/** False for the first row of a form, which no row below it needs to be understood. */
export function namesColumns(row: string): boolean {
  const filled = row.split(CELL_BORDER).filter((cell) => cell.trim() !== '')
  return filled.length < 2 || !filled.every((cell) => LABELLED_VALUE.test(cell.trim()))
}

/** Repeats the column titles of a table in each further section. */
function splitBlock({ kind, text }: Block, titles: string | undefined): string[] {
  const header = titles ?? ''
  if (kind !== 'table' || text.length <= SECTION_CHARACTERS || header.length > MAX_HEADER_CHARACTERS)
    return splitLong(text)
  const rows = text.split('\n').slice(titles === undefined ? 0 : 1)
  const pieces: string[] = []
  let piece = header
  for (const row of rows) {
    if (piece.length + row.length >= SECTION_CHARACTERS && piece !== header) {
      pieces.push(piece)
      piece = header
    }
    piece += piece === '' ? row : `\n${row}`
  }
  return [...pieces, piece].flatMap(splitLong)
}

/** A point in a number or an address does not end a sentence. */
const BORDERS = [/^[^]*(?:[.!?]["'”’)\]]*\s|[。！？]["'”’)\]]*)/u, /^[^]*\n/, /^[^]*\s/u]

function splitLong(text: string): string[] {
  const pieces: string[] = []
  let rest = text
  while (rest.length > SECTION_CHARACTERS) {
    const window = rest.slice(0, SECTION_CHARACTERS)
    const whole = SECTION_CHARACTERS - (isHighSurrogate(window.at(-1)) ? 1 : 0)
    const length =
      BORDERS.map((border) => border.exec(window)?.[0].length ?? 0).find((end) => end > SECTION_CHARACTERS / 2) ?? whole
    pieces.push(rest.slice(0, length).trimEnd())
    rest = rest.slice(length).trimStart()
  }
  return rest === '' ? pieces : [...pieces, rest]
}

const isHighSurrogate = (character: string | undefined) => character !== undefined && /[\uD800-\uDBFF]/.test(character)
