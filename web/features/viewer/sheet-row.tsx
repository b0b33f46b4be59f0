import type { JSX, Ref } from 'react'

import { numbersIn } from './number-cells.ts'
import { loadedLines, type SheetLine, type SheetLines } from './sheet-lines.ts'
import { cellsOf, type TextStretch } from './text-blocks.ts'
import styles from './text-section.module.css'

/** Longer text extends over the empty cells to its right, as in a workbook, instead of widening its column. */
export const LONG_TEXT = 24

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

/** The column titles, and the first numbers below them, are among so many lines. */
const TITLED_LINES = 500

const cellTexts = (text: string, line: SheetLine): string[] =>
  cellsOf(text, line).map(({ start, end }) => text.slice(start, end))

/** Index of the row of column titles, the first one of several cells; -1 without one. */
export const findHead = (text: string, lines: SheetLines): number =>
  lines.slice(0, TITLED_LINES).findIndex((line) => line !== undefined && cellsOf(text, line).length > 1)

/** Titles stand with the numbers below them, so that their row alone needs others. */
function numberCellsOf(text: string, lines: SheetLines, { index, head }: { index: number; head: number }) {
  const around = lines.slice(index, index === head ? index + TITLED_LINES : index + 1)
  return numbersIn(
    loadedLines(around).map((line) => cellTexts(text, line)),
    0,
  )
}

interface SheetRowProps {
  text: string
  lines: SheetLines
  index: number
  /** See `findHead`. */
  head: number
  /** Column numbers; A is 1. */
  columns: readonly number[]
  /** Where not all rows are drawn. */
  drawn?: { ref: Ref<HTMLTableRowElement>; 'data-index': number; 'aria-rowindex': number }
}

export function SheetRow({ text, lines, index, head, columns, drawn }: SheetRowProps): JSX.Element | null {
  const line = lines[index]
  if (line === undefined) return null
  const cells = cellsOf(text, line)
  const isNumber = numberCellsOf(text, lines, { index, head })
  return (
    <tr {...drawn} data-after-gap={index > 0 && line.row > (lines[index - 1]?.row ?? line.row) + 1}>
      <th scope="row">{line.row}</th>
      {columns.map((column, columnIndex) => {
        if (isCovered(cells, columnIndex)) return null
        const { start, end } = cells[columnIndex] ?? NOTHING
        return start < end ? (
          <td
            key={column}
            colSpan={reachOf(cells, columnIndex, columns.length)}
            className={isNumber[columnIndex] === true ? styles.number : undefined}
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
  )
}
