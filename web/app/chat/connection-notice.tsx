import type { JSX } from 'react'
import { useConnection } from '#web/data/live/connection.ts'
import styles from './connection-notice.module.css'

/** Says that what is shown may be out of date, as long as nothing new reaches the page. */
export function ConnectionNotice(): JSX.Element {
  const isLost = useConnection((state) => state.isLost)
  return (
    <div role="status" className={styles.place}>
      {isLost && <p className={styles.line}>Connection lost. Reconnecting…</p>}
    </div>
  )
}
