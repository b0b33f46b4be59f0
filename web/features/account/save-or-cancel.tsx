import type { JSX } from 'react'
import { Button } from '#web/ui/button.tsx'
import { Refusal } from './section.tsx'
import styles from './rows.module.css'

type SaveOrCancelProps = {
  /** What the server said against the last attempt. */
  refusal: string | null
  busy: boolean
  /** The button's word, and the one that it shows while an attempt is under way. */
  save?: string
  saving?: string
  onCancel: () => void
}

/** The end of a form: why it was refused, the button that sends it, the one that leaves it. */
export function SaveOrCancel({
  refusal,
  busy,
  save = 'Save',
  saving = 'Saving...',
  onCancel,
}: SaveOrCancelProps): JSX.Element {
  return (
    <>
      <Refusal>{refusal}</Refusal>
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
