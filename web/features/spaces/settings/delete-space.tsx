import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import { showDeletedSpace } from '#web/data/spaces/deleted-space.ts'
import { deleteSpace, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { Button } from '#web/ui/button.tsx'
import rows from '#web/ui/rows.module.css'
import { TypedConfirmation } from '#web/ui/typed-confirmation.tsx'

export function DeleteSpace({ space }: { space: OwnSpace }): JSX.Element {
  const [isAsking, setAsking] = useState(false)
  return (
    <div className={rows.form}>
      <p className={rows.caption}>Removes its documents and conversations, for all members.</p>
      <Button variant="outline" size="sm" className={rows.danger} onClick={() => setAsking(true)}>
        Delete this space
      </Button>
      {isAsking && <DeleteDialog space={space} onClose={() => setAsking(false)} />}
    </div>
  )
}

function DeleteDialog({ space, onClose }: { space: OwnSpace; onClose: () => void }): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  return (
    <TypedConfirmation
      title="Delete Space"
      description={`Every document and conversation in “${space.name}” is removed for good, for all its members at once. They cannot be brought back.`}
      name={space.name}
      formLabel="Delete space"
      confirmLabel="Delete everything in it"
      busy={busy}
      errorMessage={errorMessage}
      onConfirm={() => void run(async () => showDeletedSpace(await deleteSpace(queryClient, space.id)))}
      onClose={onClose}
    />
  )
}
