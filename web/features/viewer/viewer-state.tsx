import type { JSX } from 'react'

import { documentFileUrl } from '#web/data/documents/document-queries.ts'
import { Button } from '#web/ui/button.tsx'
import { Spinner } from '#web/ui/spinner.tsx'

import styles from './viewer-state.module.css'

interface ViewerStateProps {
  kind: 'loading' | 'failed'
  title: string
  text?: string
  /** Document id for a download link. */
  downloadOf?: string
  onRetry?: () => void
}

export function ViewerState({ kind, title, text, downloadOf, onRetry }: ViewerStateProps): JSX.Element {
  return (
    <div className={styles.state} data-kind={kind} role={kind === 'loading' ? 'status' : 'alert'}>
      {kind === 'loading' && <Spinner size={20} />}
      <p className={styles.title}>{title}</p>
      {text !== undefined && <p className={styles.text}>{text}</p>}
      {onRetry && (
        <Button
          variant="outline"
          size="sm"
          onClick={(event) => {
            // The button unmounts; keep the focus in the pane.
            event.currentTarget.closest<HTMLElement>('[tabindex="0"]')?.focus()
            onRetry()
          }}
        >
          Try again
        </Button>
      )}
      {downloadOf !== undefined && (
        <Button variant="outline" size="sm" asChild>
          <a href={documentFileUrl(downloadOf)} download>
            Download the file
          </a>
        </Button>
      )}
    </div>
  )
}
