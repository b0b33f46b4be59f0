import type { JSX } from 'react'
import { OTHER_WORDS_STEP, READING_STEP, SUMMARY_STEP } from '#contract/reply-events.ts'
import styles from './message.module.css'

const STEPS = new Map([
  [SUMMARY_STEP, 'Summarising earlier messages…'],
  [READING_STEP, 'Reading your documents…'],
  [OTHER_WORDS_STEP, 'Searching in other words…'],
])

export function Thinking({ tool }: { tool: string | undefined }): JSX.Element {
  return (
    <p className={styles.thinking} role="status" data-text-end>
      {tool === undefined ? 'Thinking…' : (STEPS.get(tool) ?? `Using ${tool}…`)}
    </p>
  )
}
