import type { JSX } from 'react'

import styles from './passage-note.module.css'

/** The cited passage as text, where the page is a picture without word positions. */
export function PassageNote({ text }: { text: string }): JSX.Element {
  return (
    <aside className={styles.note} aria-label="Cited passage">
      <p className={styles.text}>{text}</p>
      <p className={styles.from}>Read from the picture, where it cannot be marked</p>
    </aside>
  )
}
