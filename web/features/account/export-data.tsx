import { useState, type JSX } from 'react'
import { startExport } from '#web/data/export.ts'
import { formatSize } from '#contract/format-size.ts'
import { Button } from '#web/ui/button.tsx'
import styles from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'

type State = { at: 'rest' } | { at: 'asking' } | { at: 'begun'; bytes: number } | { at: 'failed' }

export function ExportData(): JSX.Element {
  const [state, setState] = useState<State>({ at: 'rest' })

  const start = async (): Promise<void> => {
    setState({ at: 'asking' })
    try {
      setState({ at: 'begun', bytes: await startExport() })
    } catch (error) {
      console.error(error)
      setState({ at: 'failed' })
    }
  }

  return (
    <div className={styles.form}>
      <p className={styles.caption}>
        One zip file with your conversations, the documents as you uploaded them in all their versions, every citation
        and your settings.
      </p>
      <Button
        variant="outline"
        size="sm"
        className={styles.start}
        disabled={state.at === 'asking'}
        onClick={() => void start()}
      >
        Export everything
      </Button>
      {state.at === 'begun' && (
        <p className={styles.caption} role="status">
          The download has begun, about {formatSize(state.bytes)}. Your browser shows how far it is.
        </p>
      )}
      <ErrorText>{state.at === 'failed' ? 'The export could not be started. Please try again.' : null}</ErrorText>
    </div>
  )
}
