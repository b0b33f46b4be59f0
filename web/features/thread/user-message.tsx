import type { JSX } from 'react'
import { formatTime } from '#web/lib/format-date.ts'
import { classNames } from '#web/ui/class-names.ts'
import styles from './message.module.css'

type UserMessageProps = { content: string; createdAt: string; pending: boolean }

/** A person's words: a quiet raised block at the right, with its time. */
export function UserMessage({ content, createdAt, pending }: UserMessageProps): JSX.Element {
  return (
    <article className={classNames(styles.question, pending && styles.pending)} aria-label="Your message">
      <p className={styles.words}>{content}</p>
      <time className={styles.time} dateTime={createdAt}>
        {formatTime(createdAt)}
      </time>
    </article>
  )
}
