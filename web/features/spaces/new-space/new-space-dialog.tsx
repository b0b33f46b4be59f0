import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type JSX, type ReactNode, type SubmitEvent } from 'react'
import { MAX_SPACE_NAME_CHARACTERS } from '#contract/space.ts'
import { useSpace } from '#web/data/current-space.ts'
import { SPACE_COLORS } from '#web/data/spaces/colors.ts'
import { createSpace, spacesQuery, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { ColorField } from '#web/features/spaces/color-field.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { ErrorText } from '#web/ui/section.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import styles from './new-space-dialog.module.css'

type NewSpaceDialogProps = {
  /** Takes files for the space that the page shows. */
  uploadArea: ReactNode
  onCreated: (space: string) => void
  onClose: () => void
}

/** Two steps: the name, then the documents. */
export function NewSpaceDialog({ uploadArea, onCreated, onClose }: NewSpaceDialogProps): JSX.Element {
  const current = useSpace()
  const [created, setCreated] = useState<OwnSpace | null>(null)
  return (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      title={created === null ? 'New space' : `Documents of ${created.name}`}
      description={
        created === null
          ? 'A place for one subject, with its own documents and conversations. Only you see it until you invite others.'
          : 'Answers in this space come from these documents. More can be added at any time.'
      }
    >
      {created === null ? (
        <NameStep
          onCreated={(space) => {
            setCreated(space)
            onCreated(space.id)
          }}
          onCancel={onClose}
        />
      ) : (
        <div className={styles.step}>
          {current === created.id && uploadArea}
          <div className={styles.actions}>
            <p className={styles.progress}>Step 2 of 2</p>
            <Button onClick={onClose}>Done</Button>
          </div>
        </div>
      )}
    </Dialog>
  )
}

function NameStep({
  onCreated,
  onCancel,
}: {
  onCreated: (space: OwnSpace) => void
  onCancel: () => void
}): JSX.Element {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const { data: spaces = [] } = useQuery(spacesQuery)
  const [chosen, setColor] = useState<string | null>(null)
  const color = chosen ?? SPACE_COLORS.find((one) => spaces.every((space) => space.color !== one)) ?? SPACE_COLORS[0]
  const { busy, errorMessage, run } = useAttempt()
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    void run(async () => onCreated(await createSpace(queryClient, { name: name.trim(), color })))
  }
  return (
    <form className={styles.step} aria-label="New space" onSubmit={submit}>
      <TextField
        label="Name"
        name="name"
        required
        autoFocus
        autoComplete="off"
        maxLength={MAX_SPACE_NAME_CHARACTERS}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <ColorField value={color} onChange={setColor} />
      <ErrorText>{errorMessage}</ErrorText>
      <div className={styles.actions}>
        <p className={styles.progress}>Step 1 of 2</p>
        <Button variant="ghost" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" disabled={busy || name.trim() === ''}>
          {busy ? 'Creating...' : 'Create space'}
        </Button>
      </div>
    </form>
  )
}
