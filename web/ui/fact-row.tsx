import type { JSX, ReactNode } from 'react'
import styles from './rows.module.css'

type FactRowProps = { label: string; children: ReactNode; action?: ReactNode }

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
