import { useQueryClient } from '@tanstack/react-query'
import type { JSX } from 'react'
import { changeSpace, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { Button } from '#web/ui/button.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'

export function ArchiveSpace({ space }: { space: OwnSpace }): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const isArchived = space.archived_at !== null
  return (
    <div className={rows.form}>
      <p className={rows.caption}>
        {isArchived
          ? 'Members read it, and nothing is added.'
          : 'Members read an archived space, and nothing is added. It can be taken back into use.'}
      </p>
      <Button
        variant="outline"
        size="sm"
        className={rows.start}
        disabled={busy}
        onClick={() =>
          void run(() =>
            changeSpace(queryClient, space.id, { archived_at: isArchived ? null : new Date().toISOString() }),
          )
        }
      >
        {isArchived ? 'Take back into use' : 'Archive this space'}
      </Button>
      <ErrorText>{errorMessage}</ErrorText>
    </div>
  )
}
