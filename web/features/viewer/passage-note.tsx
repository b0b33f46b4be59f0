import type { JSX } from 'react'

import styles from './passage-note.module.css'

/** The cited passage in words, where the page is a picture and nothing on it can be marked. */
export function PassageNote({ text }: { text: string }): JSX.Element {
  return (
    <aside className={styles.note} aria-label="Cited passage">
      <p className={styles.text}>{text}</p>
      <p className={styles.from}>Read from the picture, where it cannot be marked</p>
    </aside>
  )
}
