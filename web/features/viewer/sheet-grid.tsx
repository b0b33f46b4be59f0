import { useMemo, type JSX } from 'react'

import { LongSheet, type SheetProps } from './long-sheet.tsx'
import { SheetHead } from './sheet-head.tsx'
import { findHead, SheetRow } from './sheet-row.tsx'
import styles from './text-section.module.css'

/** Rows of a longer sheet are drawn near the view only, in columns whose widths are estimated. */
const MAX_DRAWN_ROWS = 500

/** A sheet as a workbook shows it, with row and column names; empty rows and columns are left out. */
export function SheetGrid(props: SheetProps): JSX.Element {
  const { text, lines, columns } = props
  const head = useMemo(() => findHead(text, lines), [text, lines])
  return (
    <div className={styles.grid} dir="ltr">
      {lines.length > MAX_DRAWN_ROWS ? (
        <LongSheet {...props} head={head} />
      ) : (
        <table>
          <SheetHead columns={columns} />
          <tbody>
            {lines.map((_, index) => (
              <SheetRow key={index} text={text} lines={lines} index={index} head={head} columns={columns} />
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}
