/** Finds tables of a pdf page: consecutive lines whose cells are aligned. */
import type { Cell, Line } from './lines.ts'

const MIN_ROWS = 3
/** Two rows are enough with this many columns. */
const MANY_COLUMNS = 3
const ALIGNED = 0.6
const MAX_DISTANCE = 4
/** Average length above which columns are running text. */
const MAX_CELL_CHARACTERS = 45
const MIN_ALIGNED_SHARE = 0.5

export function numberTables(lines: readonly Line[]): Map<Line, number> {
  const tables = new Map<Line, number>()
  let rows: Line[] = []
  let count = 0
  const close = () => {
    if (isTable(rows)) {
      splitTitles(rows)
      count += 1
      for (const row of rows) tables.set(row, count)
    }
    rows = []
  }
  for (const line of lines) {
    const above = rows.at(-1)
    if (above && !continuesTable(above, line)) close()
    if (rows.length > 0 || line.cells.length > 1) rows.push(line)
  }
  close()
  return tables
}

/** Splits titles so close that they look like one cell, if every column then has a title. */
function splitTitles(rows: readonly Line[]): void {
  const most = Math.max(...rows.map(({ cells }) => cells.length))
  const full = rows.filter(({ cells }) => cells.length === most)
  const [columns] = full
  if (!columns || full.length < 2) return
  for (const line of rows.slice(0, rows.indexOf(columns))) {
    const tolerance = ALIGNED * Math.max(line.height, columns.height)
    const parted = line.cells.flatMap((cell) => splitCell(cell, columns.cells, tolerance))
    if (parted.length === most) line.cells.splice(0, line.cells.length, ...parted)
  }
}

function splitCell(cell: Cell, columns: readonly Cell[], tolerance: number): Cell[] {
  const parts: Cell[] = []
  let last = -1
  for (const item of cell.items) {
    const isWord = item.text.trim() !== ''
    const column = columns.findIndex(
      (other, index) => isWord && index > last && isAligned({ ...item, items: [item] }, other, tolerance),
    )
    const open = parts.at(-1)
    if (open && column === -1) {
      open.items.push(item)
      open.to = item.to
    } else parts.push({ items: [item], from: item.from, to: item.to })
    last = Math.max(last, column)
  }
  return parts
}

function continuesTable(above: Line, line: Line): boolean {
  if (line.cells.length < 2 || Math.abs(line.angle - above.angle) > 0.01) return false
  const distance = line.down - above.down
  if (distance <= 0 || distance > MAX_DISTANCE * Math.max(line.height, above.height)) return false
  const tolerance = ALIGNED * Math.max(line.height, above.height)
  const [few, many] = line.cells.length <= above.cells.length ? [line, above] : [above, line]
  const aligned = few.cells.filter((cell) => many.cells.some((other) => isAligned(cell, other, tolerance))).length
  return aligned > 1 && aligned >= MIN_ALIGNED_SHARE * few.cells.length
}

function isAligned(one: Cell, other: Cell, tolerance: number): boolean {
  const middle = ({ from, to }: Cell) => (from + to) / 2
  return (
    Math.abs(one.from - other.from) < tolerance ||
    Math.abs(one.to - other.to) < tolerance ||
    Math.abs(middle(one) - middle(other)) < tolerance
  )
}

function isTable(rows: readonly Line[]): boolean {
  const [first] = rows
  if (!first || rows.length < (first.cells.length >= MANY_COLUMNS ? 2 : MIN_ROWS)) return false
  const cells = rows.flatMap((row) => row.cells)
  const characters = cells.reduce(
    (sum, { items }) => sum + items.reduce((length, { text }) => length + text.length, 0),
    0,
  )
  return characters <= MAX_CELL_CHARACTERS * cells.length
}
