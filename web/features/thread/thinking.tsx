import type { JSX } from 'react'
import { SUMMARY_STEP } from '#contract/reply-events.ts'
import styles from './message.module.css'

/** Shown while an answer is awaited and nothing of it is there yet. */
export function Thinking({ tool }: { tool: string | undefined }): JSX.Element {
  return (
    <p className={styles.thinking} role="status">
      {tool === undefined ? 'Thinking…' : tool === SUMMARY_STEP ? 'Summarising earlier messages…' : `Using ${tool}…`}
    </p>
  )
}
