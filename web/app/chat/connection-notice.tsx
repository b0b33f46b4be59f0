import type { JSX } from 'react'
import { useConnection } from '#web/data/live/connection.ts'
import styles from './connection-notice.module.css'

export function ConnectionNotice(): JSX.Element {
  const isLost = useConnection((state) => state.isLost)
  return (
    <div role="status" className={styles.place}>
      {isLost && <p className={styles.line}>Connection lost. Reconnecting…</p>}
    </div>
  )
}
