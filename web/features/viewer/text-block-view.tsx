import type { JSX } from 'react'

import { numberCells } from './number-cells.ts'
import type { TextBlock } from './text-blocks.ts'
import styles from './text-section.module.css'

/** Every element with text carries its offset in the section, so that a passage can be found. */
export function TextBlockView({ block, text }: { block: TextBlock; text: string }): JSX.Element {
  if (block.kind !== 'table') {
    return (
      <p className={styles[block.kind]} dir="auto" data-start={block.start}>
        {text.slice(block.start, block.end)}
      </p>
    )
  }
  const columns = Math.max(...block.rows.map((row) => row.length))
  const isNumber = numberCells(block.rows.map((row) => row.map(({ start, end }) => text.slice(start, end))))
  return (
    <div className={styles.table}>
      <table>
        <tbody>
          {block.rows.map((row, index) => (
            <tr key={index}>
              {row.map(({ start, end }, column) => (
                <td
                  key={column}
                  className={isNumber[index]?.[column] === true ? styles.number : undefined}
                  colSpan={row.length === 1 ? columns : 1}
                  dir="auto"
                  data-start={start}
                >
                  {text.slice(start, end)}
                </td>
              ))}
              {row.length > 1 && row.length < columns && <td colSpan={columns - row.length} />}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
