import { useSyncExternalStore, type JSX } from 'react'
import {
  clearDeletionReceipt,
  subscribeToDeletionReceipt,
  readDeletionReceipt,
} from '#web/data/account/deletion-receipt.ts'
import { saveFile } from '#web/lib/save-file.ts'
import { Button } from '#web/ui/button.tsx'
import styles from './farewell.module.css'

export function DeletionNotice(): JSX.Element | null {
  const receipt = useSyncExternalStore(subscribeToDeletionReceipt, readDeletionReceipt)
  if (receipt === null) return null
  return (
    <section className={styles.note} aria-label="Account deleted">
      <p role="status">Your account and everything in it were deleted. All your devices are signed out.</p>
      <div className={styles.actions}>
        <Button
          variant="outline"
          size="sm"
          onClick={() => saveFile('alcove-deletion-receipt.json', new Blob([receipt], { type: 'application/json' }))}
        >
          Download the receipt
        </Button>
        <Button variant="ghost" size="sm" onClick={clearDeletionReceipt}>
          Close
        </Button>
      </div>
    </section>
  )
}
