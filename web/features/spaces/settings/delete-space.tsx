import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX, type SubmitEvent } from 'react'
import { deleteSpace, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { TextField } from '#web/ui/text-field.tsx'

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
  const [confirmation, setConfirmation] = useState('')
  const { busy, errorMessage, run } = useAttempt()
  const isTyped = confirmation.trim().toLowerCase() === space.name.toLowerCase()
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    void run(() => deleteSpace(queryClient, space.id))
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      title="Delete Space"
      description={`Every document and conversation in “${space.name}” is removed for good, for all its members at once. They cannot be brought back.`}
    >
      <form className={rows.dialog} aria-label="Delete space" onSubmit={submit}>
        <TextField
          label={`To confirm, type ${space.name}`}
          name="confirmation"
          required
          autoFocus
          autoComplete="off"
          spellCheck={false}
          value={confirmation}
          onChange={(event) => setConfirmation(event.target.value)}
        />
        <ErrorText>{errorMessage}</ErrorText>
        <div className={rows.actions}>
          <Button type="submit" variant="destructive" disabled={busy || !isTyped}>
            {busy ? 'Deleting...' : 'Delete everything in it'}
          </Button>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
