import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'
import { useSpace } from '#web/data/current-space.ts'
import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import styles from '#web/features/thread/message/message.module.css'
import { Button } from '#web/ui/button.tsx'

export function UnreadNote({ count, onAgain }: { count: number; onAgain: (() => void) | null }): JSX.Element {
  const space = useSpace()
  const { data: waits = true } = useQuery({
    ...documentCountsQuery(space),
    select: ({ being_read: unread, paused }) => unread + paused > 0,
  })
  return (
    <div className={styles.unread}>
      <p role="status">
        {count === 1 ? 'One document was' : `${count} documents were`} not read yet, and not used.
        {waits ? '' : ' That is done now.'}
      </p>
      {!waits && onAgain !== null && (
        <Button variant="outline" size="sm" onClick={onAgain}>
          Answer again
        </Button>
      )}
    </div>
  )
}
