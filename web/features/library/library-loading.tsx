import type { JSX } from 'react'

import { Spinner } from '#web/ui/spinner.tsx'

import styles from './document-list.module.css'

/** Shown for the documents while they, or the code that shows them, are loaded. */
export function LibraryLoading(): JSX.Element {
  return (
    <p className={styles.pending} role="status">
      <Spinner /> Loading your documents
    </p>
  )
}
