import { MAX_SPACE_NAME_CHARACTERS } from '#contract/space.ts'
import { useQueryClient } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { useState, type JSX, type SubmitEvent } from 'react'
import { changeSpace, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { ColorField } from '#web/features/spaces/color-field.tsx'
import { Button } from '#web/ui/button.tsx'
import { FactRow } from '#web/ui/fact-row.tsx'
import rows from '#web/ui/rows.module.css'
import { SaveOrCancel } from '#web/ui/save-or-cancel.tsx'
import { ErrorText } from '#web/ui/section.tsx'
import { TextField } from '#web/ui/text-field.tsx'

type LookFieldsProps = { space: OwnSpace; mayChange: boolean }

export function LookFields({ space, mayChange }: LookFieldsProps): JSX.Element {
  const queryClient = useQueryClient()
  const [isNaming, setNaming] = useState(false)
  const { errorMessage, run } = useAttempt()
  return (
    <>
      {isNaming ? (
        <NameForm space={space} onDone={() => setNaming(false)} />
      ) : (
        <FactRow
          label="Name"
          action={
            mayChange && (
              <Button variant="ghost" size="icon" aria-label="Change the name" onClick={() => setNaming(true)}>
                <Pencil size={15} />
              </Button>
            )
          }
        >
          {space.name}
        </FactRow>
      )}
      {mayChange && (
        <ColorField
          value={space.color}
          onChange={(color) => void run(() => changeSpace(queryClient, space.id, { color }))}
        />
      )}
      <ErrorText>{errorMessage}</ErrorText>
    </>
  )
}

function NameForm({ space, onDone }: { space: OwnSpace; onDone: () => void }): JSX.Element {
  const queryClient = useQueryClient()
  const [name, setName] = useState(space.name)
  const { busy, errorMessage, run } = useAttempt()
  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const wanted = name.trim()
    if (wanted === space.name || (await run(() => changeSpace(queryClient, space.id, { name: wanted })))) onDone()
  }
  return (
    <form className={rows.form} aria-label="Name of the space" onSubmit={(event) => void submit(event)}>
      <TextField
        label="Name"
        name="name"
        required
        autoFocus
        autoComplete="off"
        maxLength={MAX_SPACE_NAME_CHARACTERS}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onDone()
        }}
      />
      <SaveOrCancel errorMessage={errorMessage} busy={busy} onCancel={onDone} />
    </form>
  )
}
