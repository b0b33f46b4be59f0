import { MAX_SPACE_NAME_CHARACTERS } from '#contract/space.ts'
import { useQueryClient } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { useState, type JSX } from 'react'
import { changeSpace, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { ColorField } from '#web/features/spaces/color-field.tsx'
import { Button } from '#web/ui/button.tsx'
import { useFocusAfterField } from '#web/ui/use-focus-after-field.ts'
import { FactRow } from '#web/ui/fact-row.tsx'
import { InlineForm } from '#web/ui/inline-form.tsx'
import { ErrorText } from '#web/ui/section.tsx'
import { TextField } from '#web/ui/text-field.tsx'

type LookFieldsProps = { space: OwnSpace; mayChange: boolean }

export function LookFields({ space, mayChange }: LookFieldsProps): JSX.Element {
  const queryClient = useQueryClient()
  const [isNaming, setNaming] = useState(false)
  const opener = useFocusAfterField(isNaming)
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
              <Button
                ref={opener}
                variant="ghost"
                size="icon"
                aria-label="Change the name"
                onClick={() => setNaming(true)}
              >
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
  const submit = async (): Promise<void> => {
    const wanted = name.trim()
    if (wanted === space.name || (await run(() => changeSpace(queryClient, space.id, { name: wanted })))) onDone()
  }
  return (
    <InlineForm label="Name of the space" errorMessage={errorMessage} busy={busy} onCancel={onDone} onSubmit={submit}>
      <TextField
        label="Name"
        name="name"
        required
        autoComplete="off"
        maxLength={MAX_SPACE_NAME_CHARACTERS}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </InlineForm>
  )
}
