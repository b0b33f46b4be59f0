import type { JSX } from 'react'

import { numberCells } from './number-cells.ts'
import { columnName, type SheetLine } from './sheet-lines.ts'
import type { TextStretch } from './text-blocks.ts'
import styles from './text-section.module.css'

/** Longer text extends over the empty cells to its right, as in a workbook, instead of widening its column. */
const LONG_TEXT = 24

interface SheetGridProps {
  text: string
  lines: readonly SheetLine[]
  /** Column numbers; A is 1. */
  columns: readonly number[]
}

const NOTHING: TextStretch = { start: 0, end: 0 }

const lengthAt = (cells: readonly TextStretch[], columnIndex: number): number => {
  const { start, end } = cells[columnIndex] ?? NOTHING
  return end - start
}

/** Number of columns that a cell's text covers. */
function reachOf(cells: readonly TextStretch[], columnIndex: number, columns: number): number {
  if (lengthAt(cells, columnIndex) <= LONG_TEXT) return 1
  const next = cells.findIndex((_, other) => other > columnIndex && lengthAt(cells, other) > 0)
  return (next === -1 ? columns : next) - columnIndex
}

function isCovered(cells: readonly TextStretch[], columnIndex: number): boolean {
  if (lengthAt(cells, columnIndex) > 0) return false
  const before = cells.findLastIndex((_, other) => other < columnIndex && lengthAt(cells, other) > 0)
  return before !== -1 && lengthAt(cells, before) > LONG_TEXT
}

/** A sheet as a workbook shows it, with row and column names; empty rows and columns are left out. */
export function SheetGrid({ text, lines, columns }: SheetGridProps): JSX.Element {
  const isNumber = numberCells(lines.map(({ cells }) => cells.map(({ start, end }) => text.slice(start, end))))
  return (
    <div className={styles.grid} dir="ltr">
      <table>
        <thead>
          <tr>
            <td className={styles.corner} />
            {columns.map((column) => (
              <th key={column} scope="col">
                {columnName(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ row, cells }, index) => (
            <tr key={row} data-after-gap={index > 0 && row > (lines[index - 1]?.row ?? row) + 1}>
              <th scope="row">{row}</th>
              {columns.map((column, columnIndex) => {
                if (isCovered(cells, columnIndex)) return null
                const { start, end } = cells[columnIndex] ?? NOTHING
                return start < end ? (
                  <td
                    key={column}
                    colSpan={reachOf(cells, columnIndex, columns.length)}
                    className={isNumber[index]?.[columnIndex] === true ? styles.number : undefined}
                    dir="auto"
                    data-start={start}
                  >
                    {text.slice(start, end)}
                  </td>
                ) : (
                  <td key={column} />
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
