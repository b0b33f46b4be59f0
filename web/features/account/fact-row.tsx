import type { JSX, ReactNode } from 'react'
import styles from './rows.module.css'

type FactRowProps = { label: string; children: ReactNode; action?: ReactNode }

/** A fact with its name above it and what can be done about it beside it. */
export function FactRow({ label, children, action }: FactRowProps): JSX.Element {
  return (
    <div className={styles.row}>
      <div className={styles.words}>
        <p className={styles.label}>{label}</p>
        <div className={styles.value}>{children}</div>
      </div>
      {action}
    </div>
  )
}
