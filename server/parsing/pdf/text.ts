import type { ItemRun, PageBlock } from '#contract/document.ts'
import type { Heading } from '#server/parsing/page.ts'
import { findBlocks, type WrittenLine } from './blocks.ts'
import { orderByDirection, turnVerticalColumns } from './directions.ts'
import { groupLines, type Line, NO_ITEM, type PlacedItem, placeItems, type TextItem } from './lines.ts'
import type { PageLink, PageNote, Rectangle } from './notes.ts'
import { orderColumns, orderFromTop, joinLetterspacedWords } from './line-order.ts'
import { placeLinks } from './place-links.ts'
import { placeNotes, insertNotes } from './place-notes.ts'
import { orderRegions } from './regions.ts'
import { splitFacingPages } from './spreads.ts'
import { numberTables } from './tables.ts'

export interface PdfFont {
  readonly isBold: boolean
  readonly isMono: boolean
}

const PARAGRAPH_GAP = 1.4
/** Limit for pages with too few lines for a usual distance: more than double spacing. */
const PARAGRAPH_HEIGHTS = 2.5
const CELL_BORDER = '\t'
const HYPHENATED = /\p{L}[-‐\u00ad]$/u

export interface JoinedText {
  readonly text: string
  readonly items: ItemRun[]
  readonly headings: Heading[]
  readonly blocks: PageBlock[]
  readonly notes: NoteRange[]
}

export interface NoteRange {
  readonly start: number
  readonly length: number
  readonly rectangle: Rectangle
  readonly isAddress?: true
}

/** Generated spaces, line ends, borders, notes and addresses of links belong to no run. `drawn` is empty unless words are letterspaced. */
export function joinItems(
  items: readonly TextItem[],
  fontOf: (name: string) => PdfFont | undefined,
  {
    notes = [],
    links = [],
    drawn = '',
  }: { readonly notes?: readonly PageNote[]; readonly links?: readonly PageLink[]; readonly drawn?: string } = {},
): JoinedText {
  const placed = orderByDirection(turnVerticalColumns(placeItems(items)))
  const inline = placeNotes(
    placed,
    notes.filter((note) => note.isInline),
  )
  const linked = placeLinks(insertNotes(placed, inline), links)
  const noteOf = new Map([...inline, ...linked.notes].map(({ item, note }) => [item, note]))
  const grouped = groupLines(linked.items)
  const lines = splitFacingPages(joinLetterspacedWords(grouped, drawn)).flatMap((page) =>
    orderRegions(orderColumns(orderFromTop(page))),
  )
  const ranges: NoteRange[] = []
  const lineDistance = usualLineDistance(lines)
  const tables = numberTables(lines)
  const runs: ItemRun[] = []
  const written: WrittenLine[] = []
  let text = ''
  lines.forEach((line, index) => {
    const previous = lines[index - 1]
    const table = tables.get(line)
    const isRowBelow = table !== undefined && previous !== undefined && tables.get(previous) === table
    let separator = previous ? (isRowBelow ? '\n' : separatorBetween(previous, line, lineDistance)) : ''
    if (
      separator === '\n' &&
      previous?.items.at(-1)?.index !== NO_ITEM &&
      HYPHENATED.test(text) &&
      /^\p{Ll}/u.test(line.items[0]?.text ?? '')
    ) {
      text = dropHyphen(text, runs)
      separator = ''
      const above = written.at(-1)
      if (above) written[written.length - 1] = { ...above, end: text.length }
    }
    text += separator
    const start = text.length
    for (const item of line.items) {
      text += gapBefore(item, line, table !== undefined, text)
      const note = noteOf.get(item)
      if (note) {
        const address = note.isAddress ? { isAddress: true as const } : {}
        ranges.push({ start: text.length, length: item.text.length, rectangle: note.rectangle, ...address })
      } else runs.push([text.length, item.index, item.offset, item.text.length])
      text += item.text
    }
    const fonts = line.items.filter((item) => item.text.trim() !== '').map((item) => fontOf(item.fontName))
    written.push({
      start,
      end: text.length,
      height: line.height,
      isBold: fonts.length > 0 && fonts.every((font) => font?.isBold === true),
      isMono: fonts.length > 0 && fonts.every((font) => font?.isMono === true),
      table,
      distance: previous ? Math.abs(line.down - previous.down) : 0,
      beginsParagraph: separator !== '\n' && separator !== '',
    })
  })
  const blocks = findBlocks(text, written)
  const headings = listHeadings(text, blocks)
  for (const { text: comment, rectangle } of notes.filter(({ isInline: isInPlace }) => !isInPlace)) {
    text += text === '' ? '' : '\n\n'
    const start = text.length
    text += comment
    ranges.push({ start, length: comment.length, rectangle })
    blocks.push({ kind: 'paragraph', start, end: text.length })
  }
  return { text, items: runs, blocks, headings, notes: ranges }
}

const listHeadings = (text: string, blocks: readonly PageBlock[]): Heading[] =>
  blocks
    .filter(({ kind }) => kind === 'heading')
    .map(({ start, end }) => [start, text.slice(start, end).replaceAll(/\s+/g, ' ').trim()])

function usualLineDistance(lines: readonly Line[]): number {
  const distances: number[] = []
  lines.forEach((line, position) => {
    const previous = lines[position - 1]
    if (!previous || turnsFrom(previous, line)) return
    const distance = line.down - previous.down
    if (distance > 0 && distance < 4 * line.height) distances.push(distance)
  })
  return distances.toSorted((left, right) => left - right)[distances.length >> 1] ?? 0
}

const turnsFrom = (previous: Line, next: Line): boolean => Math.abs(previous.angle - next.angle) > 0.01

function separatorBetween(previous: Line, next: Line, lineDistance: number): string {
  const distance = next.down - previous.down
  const paragraphDistance = Math.min(
    PARAGRAPH_GAP * lineDistance,
    PARAGRAPH_HEIGHTS * Math.min(previous.height, next.height),
  )
  return lineDistance > 0 && !turnsFrom(previous, next) && distance > paragraphDistance ? '\n\n' : '\n'
}

function gapBefore(item: PlacedItem, line: Line, isRow: boolean, text: string): string {
  const previous = line.items[line.items.indexOf(item) - 1]
  if (!previous) return ''
  if (isRow && line.cells.some((cell) => cell.items[0] === item)) return CELL_BORDER
  if (/\s$/.test(text) || /^\s/.test(item.text)) return ''
  return line.gaps.get(item) === true ? ' ' : ''
}

function dropHyphen(text: string, runs: ItemRun[]): string {
  const last = runs.pop()
  if (!last) return text
  const [offset, index, inItem, length] = last
  if (length > 1) runs.push([offset, index, inItem, length - 1])
  return text.slice(0, -1)
}
