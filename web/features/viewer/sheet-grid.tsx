import type { JSX } from 'react'

import { numberCells } from './number-cells.ts'
import { columnName, type SheetLine } from './sheet-lines.ts'
import styles from './text-section.module.css'

interface SheetGridProps {
  text: string
  lines: readonly SheetLine[]
  /** A being 1. */
  columns: readonly number[]
}

/** A sheet as a workbook shows it, with the names of its rows and columns; those that are empty are left out. */
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
              {columns.map((column, place) => {
                const { start, end } = cells[place] ?? { start: 0, end: 0 }
                return start < end ? (
                  <td
                    key={column}
                    className={isNumber[index]?.[place] === true ? styles.number : undefined}
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
