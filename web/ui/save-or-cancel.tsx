import type { JSX } from 'react'
import { Button } from './button.tsx'
import { ErrorText } from './section.tsx'
import styles from './rows.module.css'

type SaveOrCancelProps = {
  errorMessage: string | null
  busy: boolean
  /** The labels of the save button, idle and busy. */
  save?: string
  saving?: string
  onCancel: () => void
}

export function SaveOrCancel({
  errorMessage,
  busy,
  save = 'Save',
  saving = 'Saving...',
  onCancel,
}: SaveOrCancelProps): JSX.Element {
  return (
    <>
      <ErrorText>{errorMessage}</ErrorText>
      <div className={styles.actions}>
        <Button type="submit" size="sm" disabled={busy}>
          {busy ? saving : save}
        </Button>
        <Button variant="ghost" size="sm" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </>
  )
}
