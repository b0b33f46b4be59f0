import type { JSX } from 'react'
import styles from './message.module.css'

/** Shown while an answer is awaited and nothing of it is there yet. */
export function Thinking({ tool }: { tool: string | undefined }): JSX.Element {
  return (
    <p className={styles.thinking} role="status">
      {tool === undefined ? 'Thinking…' : `Using ${tool}…`}
    </p>
  )
}
