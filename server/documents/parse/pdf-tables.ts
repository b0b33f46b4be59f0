/** Finds the tables of a pdf page by their columns: lines below each other whose wide gaps are in the same places. */
import { type Cell, type Line } from './pdf-lines.ts'

const LEAST_ROWS = 3
/** Two rows are enough where they have this many columns. */
const MANY_COLUMNS = 3
/** Shares of the height of the line. */
const ALIGNED = 0.6
const MOST_DISTANCE = 4
/** Columns of running text are wider than cells; in characters, on average. */
const LONGEST_CELL = 45
/** Share of a row's cells that must stand below cells of the row before. */
const LEAST_ALIGNED_SHARE = 0.5

/** The number of the table that each line belongs to; lines outside of tables are not listed. */
export function markTables(lines: readonly Line[]): Map<Line, number> {
  const tables = new Map<Line, number>()
  let rows: Line[] = []
  let count = 0
  const close = () => {
    if (isTable(rows)) {
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

function continuesTable(above: Line, line: Line): boolean {
  if (line.cells.length < 2 || Math.abs(line.angle - above.angle) > 0.01) return false
  const distance = line.down - above.down
  if (distance <= 0 || distance > MOST_DISTANCE * Math.max(line.height, above.height)) return false
  const tolerance = ALIGNED * Math.max(line.height, above.height)
  const [few, many] = line.cells.length <= above.cells.length ? [line, above] : [above, line]
  const aligned = few.cells.filter((cell) => many.cells.some((other) => isAligned(cell, other, tolerance))).length
  return aligned > 1 && aligned >= LEAST_ALIGNED_SHARE * few.cells.length
}

/** Cells of a column begin, end or have their middle at the same place. */
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
  if (!first || rows.length < (first.cells.length >= MANY_COLUMNS ? 2 : LEAST_ROWS)) return false
  const cells = rows.flatMap((row) => row.cells)
  const characters = cells.reduce(
    (sum, { items }) => sum + items.reduce((length, { text }) => length + text.length, 0),
    0,
  )
  return characters <= LONGEST_CELL * cells.length
}
