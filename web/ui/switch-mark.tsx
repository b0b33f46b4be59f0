import type { JSX } from 'react'
import styles from './switch.module.css'

/** The look of a switch alone, for rows that are switches themselves. */
export function SwitchMark({ checked }: { checked: boolean }): JSX.Element {
  return (
    <span aria-hidden className={styles.switch} data-state={checked ? 'checked' : 'unchecked'}>
      <span className={styles.thumb} data-state={checked ? 'checked' : 'unchecked'} />
    </span>
  )
}
