import type { JSX } from 'react'
import { showDeletedSpace, useDeletedSpace } from '#web/data/spaces/deleted-space.ts'
import { count } from '#web/lib/format/count.ts'
import { saveFile } from '#web/lib/save-file.ts'
import { Button } from '#web/ui/button.tsx'
import styles from './space-start.module.css'

/** Counts of the rows that went with a space. The server tells them once. */
export function DeletedSpaceNotice(): JSX.Element | null {
  const receipt = useDeletedSpace((state) => state.receipt)
  if (receipt === null) return null
  const { documents = 0, conversations = 0, messages = 0 } = receipt.removed
  const removed = [
    count(documents, 'document', 'documents'),
    count(conversations, 'conversation', 'conversations'),
    count(messages, 'message', 'messages'),
  ].join(', ')
  const save = (): void =>
    saveFile('alcove-space-receipt.json', new Blob([JSON.stringify(receipt, null, 2)], { type: 'application/json' }))
  return (
    <section className={styles.receipt} aria-label="Receipt of a deleted space">
      <p dir="auto">
        “{receipt.space}” was deleted with {removed}.
      </p>
      <div className={styles.receiptActions}>
        <Button variant="outline" size="sm" onClick={save}>
          Save the receipt
        </Button>
        <Button variant="ghost" size="sm" onClick={() => showDeletedSpace(null)}>
          Dismiss
        </Button>
      </div>
    </section>
  )
}
