import type { JSX } from 'react'

import { columnName } from './sheet-lines.ts'
import styles from './text-section.module.css'

export function SheetHead({ columns }: { columns: readonly number[] }): JSX.Element {
  return (
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
  )
}
