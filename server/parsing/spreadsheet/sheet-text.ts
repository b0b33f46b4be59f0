/** Writes a sheet as text: a line per row, cells in their columns, merged cells repeated. */
import type { CellObject, Range } from '@e965/xlsx'
import type { PageBlock } from '#contract/document.ts'
import type { Heading, SheetRow } from '#server/parsing/page.ts'
import { type CellContext, formatCell } from './cell-value.ts'

/** Rows by number and cells by column, both from 0, sparse. */
export type SheetCells = readonly (readonly (CellObject | undefined)[] | undefined)[]

export interface SheetText {
  readonly text: string
  readonly headings: Heading[]
  readonly rows: SheetRow[]
  /** Column numbers (A is 1) of the cells of every line; empty if lines have columns of their own. */
  readonly columns: number[]
  readonly blocks: PageBlock[]
  readonly isCut: boolean
}

const MAX_ALIGNED_COLUMNS = 64
const MAX_SHEET_CHARACTERS = 4_000_000
const MAX_MERGES = 10_000
const MAX_MERGED_ROWS = 1_000
const MAX_TITLE_CHARACTERS = 60
const MAX_TITLE_ROWS = 4
const MAX_HEADING_CHARACTERS = 300

export interface Sheet {
  readonly name: string
  readonly cells: SheetCells
  readonly merges: readonly Range[]
  readonly textBoxes: readonly string[]
  readonly context: CellContext
}

export function writeSheet(sheet: Sheet): SheetText {
  const written = writeRows(sheet)
  if (sheet.textBoxes.length === 0) return written
  const { name } = sheet
  let text = written.text === '' ? name : written.text
  const blocks: PageBlock[] =
    written.text === '' ? [{ kind: 'heading', start: 0, end: name.length, level: 1 }] : [...written.blocks]
  for (const box of sheet.textBoxes) {
    const start = text.length + 2
    text += `\n\n${box}`
    blocks.push({ kind: 'paragraph', start, end: text.length })
  }
  return { ...written, text, blocks, headings: written.text === '' ? [[0, name]] : written.headings }
}

/** Visits only existing cells, however large the declared range is. */
function writeRows({ name, cells, merges, context }: Sheet): SheetText {
  const rows = readRows(cells, context)
  if (rows.length === 0) return { text: '', headings: [], rows: [], columns: [], blocks: [], isCut: false }
  repeatMerged(rows, merges)
  const columns = [...new Set(rows.flatMap(({ values }) => [...values.keys()]))].sort((left, right) => left - right)
  const isAligned = columns.length <= MAX_ALIGNED_COLUMNS

  let text = name
  const headings: Heading[] = [[0, name]]
  const sheetRows: SheetRow[] = []
  const sheetColumns = isAligned ? columns.map((column) => column + 1) : []
  const blocks: PageBlock[] = [{ kind: 'heading', start: 0, end: name.length, level: 1 }]
  let titles: Titles | undefined
  for (const [position, { row, values }] of rows.entries()) {
    const line = writeRow(values, isAligned ? columns : [...values.keys()].sort((left, right) => left - right))
    if (text.length + line.length > MAX_SHEET_CHARACTERS)
      return { text, headings, rows: sheetRows, columns: sheetColumns, blocks, isCut: true }
    const isApart = !isBelow(rows[position - 1], { row, values }) && !(titles?.leadToAmounts && position === titles.end)
    const beginsTable = isApart && !(titles && isFurtherGroup(rows, position, titles))
    if (beginsTable) titles = findTitles(rows, position)
    text += isApart ? '\n\n' : '\n'
    sheetRows.push([text.length, row + 1])
    // Later passages repeat the titles in their heading.
    if (position === titles?.start)
      headings.push([text.length, `${name}: ${titles.text}`.slice(0, MAX_HEADING_CHARACTERS)])
    const start = text.length
    text += line
    const table = blocks.at(-1)
    const headerEnd = position + 1 === titles?.end ? { headerEnd: text.length } : {}
    if (beginsTable || !table) blocks.push({ kind: 'table', start, end: text.length, ...headerEnd })
    else blocks[blocks.length - 1] = { ...table, ...headerEnd, end: text.length }
  }
  return { text, headings, rows: sheetRows, columns: sheetColumns, blocks, isCut: false }
}

interface Row {
  readonly row: number
  readonly values: Map<number, string>
}

function readRows(cells: SheetCells, context: CellContext): Row[] {
  const rows: Row[] = []
  cells.forEach((line, row) => {
    const values = new Map<number, string>()
    line?.forEach((cell, column) => {
      const value = cell ? formatCell(cell, row, column, context) : ''
      if (value !== '') values.set(column, value)
    })
    if (values.size > 0) rows.push({ row, values })
  })
  return rows
}

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

interface Titles {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly columns: ReadonlySet<number>
  readonly leadToAmounts: boolean
}

const cellsOf = ({ values }: Row): string[] =>
  [...values].sort(([left], [right]) => left - right).map(([, value]) => value)

const isAmount = (value: string) => /^[^\p{L}]*\d[^\p{L}]*$/u.test(value) && !/^(?:19|20)\d\d$/.test(value)

/** True if at least half of the cells after the first are amounts; titles have fewer. */
function holdsAmounts(row: Row): boolean {
  const [, ...others] = cellsOf(row)
  return others.length > 0 && 2 * others.filter(isAmount).length >= others.length
}

const isShort = (cell: string) => cell.length <= MAX_TITLE_CHARACTERS

function looksLikeTitles(row: Row): boolean {
  const cells = cellsOf(row)
  return cells.every(isShort) && 2 * cells.filter((cell) => /\p{L}/u.test(cell)).length > cells.length
}

const isBelow = (above: Row | undefined, row: Row | undefined): boolean =>
  above !== undefined && row !== undefined && row.row === above.row + 1

/** Only one of several title rows names the first column; the others group or explain the rest. */
function areTitles(head: readonly Row[]): boolean {
  const first = Math.min(...head.flatMap(({ values }) => [...values.keys()]))
  const names = head.filter((row) => cellsOf(row).every(isShort)).map(({ values }) => values.get(first))
  return new Set(names.filter((name) => name !== undefined)).size < 2
}

function skipCaptions(rows: readonly Row[], position: number): number {
  let start = position
  while (rows[start]?.values.size === 1 && isBelow(rows[start], rows[start + 1])) start += 1
  return start
}

/** Below one empty row, rows of amounts that fill only columns with titles are a further group of the same table. */
function isFurtherGroup(rows: readonly Row[], position: number, { columns, leadToAmounts }: Titles): boolean {
  const [above, next] = [rows[position - 1], rows[position]]
  const first = rows[skipCaptions(rows, position)]
  return (
    leadToAmounts &&
    above !== undefined &&
    next?.row === above.row + 2 &&
    first !== undefined &&
    holdsAmounts(first) &&
    new Set(first.values.keys()).isSubsetOf(columns)
  )
}

/** Titles: the first row of several short cells without amounts, below captions, or all rows to the first amounts. */
function findTitles(rows: readonly Row[], position: number): Titles | undefined {
  const start = skipCaptions(rows, position)
  const first = rows[start]
  if (first === undefined || first.values.size === 1 || holdsAmounts(first)) return undefined
  const head = [first]
  let next = rows[start + 1]
  while (next && isBelow(head.at(-1), next) && !holdsAmounts(next) && head.length < MAX_TITLE_ROWS) {
    head.push(next)
    next = rows[start + head.length]
  }
  const leadToAmounts = next !== undefined && holdsAmounts(next) && next.row <= first.row + head.length + 1
  const titles = leadToAmounts && areTitles(head) ? head : looksLikeTitles(first) ? [first] : []
  if (titles.length === 0) return undefined
  const text = [...new Set(titles.flatMap(cellsOf).filter(isShort))].join(' | ')
  const columns = new Set(titles.flatMap(({ values }) => [...values.keys()]))
  return { start, end: start + titles.length, text, columns, leadToAmounts }
}
