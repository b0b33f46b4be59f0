/** From the cells of one sheet to the text of one page: a line per row, cells in their columns, merged cells repeated. */
import { type CellObject, type Range } from '@e965/xlsx'
import { type PageBlock } from '#contract/document.ts'
import { shownValue } from './cell-value.ts'
import { type Heading, type SheetRow } from './page.ts'

/** Rows by number and cells by column, both from 0, with gaps where the sheet is empty. */
export type SheetCells = readonly (readonly (CellObject | undefined)[] | undefined)[]

export interface SheetText {
  readonly text: string
  readonly headings: Heading[]
  readonly rows: SheetRow[]
  /** The columns, A being 1, that the cells of every line stand in; none where lines have columns of their own. */
  readonly columns: number[]
  readonly blocks: PageBlock[]
  /** Rows were left out because there were too many. */
  readonly isCut: boolean
}

/** Sheets of more used columns have no layout worth keeping: only filled cells are written. */
const MAX_ALIGNED_COLUMNS = 64
const MAX_SHEET_CHARACTERS = 4_000_000
const MAX_MERGES = 10_000
const MAX_MERGED_ROWS = 1_000
const MAX_HEADER_CELL_CHARACTERS = 60
const MAX_HEADING_CHARACTERS = 300

export interface Sheet {
  readonly name: string
  readonly cells: SheetCells
  readonly merges: readonly Range[]
  /** Days are counted from 1904, as old workbooks of the Macintosh do. */
  readonly is1904: boolean
}

/** Rows in order; only cells that are there are visited, however large the sheet says it is. */
export function writeSheet({ name, cells, merges, is1904 }: Sheet): SheetText {
  const rows = readRows(cells, is1904)
  if (rows.length === 0) return { text: '', headings: [], rows: [], columns: [], blocks: [], isCut: false }
  repeatMerged(rows, merges)
  const columns = [...new Set(rows.flatMap(({ values }) => [...values.keys()]))].sort((left, right) => left - right)
  const isAligned = columns.length <= MAX_ALIGNED_COLUMNS

  let text = name
  const headings: Heading[] = [[0, name]]
  const sheetRows: SheetRow[] = []
  const sheetColumns = isAligned ? columns.map((column) => column + 1) : []
  const blocks: PageBlock[] = [{ kind: 'heading', start: 0, end: name.length, level: 1 }]
  let previous: number | undefined
  for (const [position, { row, values }] of rows.entries()) {
    const line = writeRow(values, isAligned ? columns : [...values.keys()].sort((left, right) => left - right))
    if (text.length + line.length > MAX_SHEET_CHARACTERS)
      return { text, headings, rows: sheetRows, columns: sheetColumns, blocks, isCut: true }
    const beginsTable = previous === undefined || row > previous + 1
    text += beginsTable ? '\n\n' : '\n'
    sheetRows.push([text.length, row + 1])
    // Passages further down know by their heading what their columns mean.
    const header = isHeaderPlace(rows, position) ? headerOf(values) : undefined
    if (header !== undefined) headings.push([text.length, `${name}: ${header}`.slice(0, MAX_HEADING_CHARACTERS)])
    const start = text.length
    text += line
    const table = blocks.at(-1)
    const headerEnd = header === undefined ? {} : { headerEnd: text.length }
    if (beginsTable || !table) blocks.push({ kind: 'table', start, end: text.length, ...headerEnd })
    else blocks[blocks.length - 1] = { ...headerEnd, ...table, end: text.length }
    previous = row
  }
  return { text, headings, rows: sheetRows, columns: sheetColumns, blocks, isCut: false }
}

interface Row {
  readonly row: number
  readonly values: Map<number, string>
}

function readRows(cells: SheetCells, is1904: boolean): Row[] {
  const rows: Row[] = []
  cells.forEach((line, row) => {
    const values = new Map<number, string>()
    line?.forEach((cell, column) => {
      const value = cell ? shownValue(cell, is1904) : ''
      if (value !== '') values.set(column, value)
    })
    if (values.size > 0) rows.push({ row, values })
  })
  return rows
}

/** A label that spans several rows stands in each of them, so that every row can be read alone. */
function repeatMerged(rows: readonly Row[], merges: readonly Range[]): void {
  const byNumber = new Map(rows.map(({ row, values }) => [row, values]))
  for (const { s: start, e: end } of merges.slice(0, MAX_MERGES)) {
    const value = byNumber.get(start.r)?.get(start.c)
    if (value === undefined || end.r === start.r) continue
    for (let row = start.r + 1; row <= Math.min(end.r, start.r + MAX_MERGED_ROWS); row += 1) {
      const values = byNumber.get(row)
      if (values && !values.has(start.c)) values.set(start.c, value)
    }
  }
}

const writeRow = (values: ReadonlyMap<number, string>, columns: readonly number[]): string =>
  columns
    .map((column) => values.get(column) ?? '')
    .join(' | ')
    .replace(/[ |]+$/, '')

/** Several cells of a few words each: what a row of column titles looks like. */
function headerOf(values: ReadonlyMap<number, string>): string | undefined {
  const titles = [...values].sort(([left], [right]) => left - right).map(([, title]) => title)
  const isHeader =
    titles.length > 1 &&
    titles.every((title) => title.length <= MAX_HEADER_CELL_CHARACTERS) &&
    2 * titles.filter((title) => /\p{L}/u.test(title)).length > titles.length
  return isHeader ? titles.join(' | ') : undefined
}

/** Column titles are the first row of several cells after a gap. */
function isHeaderPlace(rows: readonly Row[], position: number): boolean {
  for (let at = position; at > 0; at -= 1) {
    const [above, here] = [rows[at - 1], rows[at]]
    if (!above || !here || here.row > above.row + 1) return true
    if (above.values.size > 1) return false
  }
  return true
}
