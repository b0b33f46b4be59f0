import { useEffect, useState, type JSX } from 'react'
import { useConnection } from '#web/data/live/connection.ts'
import styles from './connection-notice.module.css'

/** Sockets that are merely slow to open are not worth a word. */
const SAID_AFTER_MS = 2_500
const SAID_FOR_MS = 15_000

/** Once for each visit, when the page has asked instead of being told for a while. */
function usePolledNote(): boolean {
  const isPolled = useConnection((state) => state.isPolled)
  const [stage, setStage] = useState<'unsaid' | 'said' | 'over'>('unsaid')
  useEffect(() => {
    if (!isPolled || stage === 'over') return
    const timer = setTimeout(
      () => setStage(stage === 'unsaid' ? 'said' : 'over'),
      stage === 'unsaid' ? SAID_AFTER_MS : SAID_FOR_MS,
    )
    return () => clearTimeout(timer)
  }, [isPolled, stage])
  return isPolled && stage === 'said'
}

export function ConnectionNotice(): JSX.Element {
  const isLost = useConnection((state) => state.isLost)
  const isPolled = usePolledNote()
  return (
    <div role="status" className={styles.place}>
      {isLost && <p className={styles.line}>Connection lost. Reconnecting…</p>}
      {isPolled && (
        <p className={styles.line}>This network blocks live updates, so Alcove checks for news every few seconds.</p>
      )}
    </div>
  )
}
