import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import type { SpaceProvider } from '#contract/space.ts'
import { addSpaceProvider, removeSpaceProvider, spaceProvidersQuery } from '#web/data/spaces/providers.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { Button } from '#web/ui/button.tsx'
import { useFocusAfterField } from '#web/ui/use-focus-after-field.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { ProviderFields, type ProviderKind, readProvider } from '#web/ui/provider-fields.tsx'
import rows from '#web/ui/rows.module.css'
import { InlineForm } from '#web/ui/inline-form.tsx'
import { ErrorText } from '#web/ui/section.tsx'

/** Keys that pay for the questions of all members; owners add and remove them, and read none. */
export function SpaceKeys({ space, isArchived }: { space: string; isArchived: boolean }): JSX.Element {
  const providers = useQuery(spaceProvidersQuery(space))
  const [isAdding, setAdding] = useState(false)
  const opener = useFocusAfterField(isAdding)
  return (
    <>
      <p className={rows.caption}>
        Questions of all members in this space use these keys before their own. They are stored encrypted and never
        shown again.
      </p>
      {providers.isError && <ErrorText>The keys could not be listed.</ErrorText>}
      {(providers.data?.length ?? 0) > 0 && (
        <ul className={rows.list} aria-label="Keys of the space">
          {providers.data?.map((provider) => (
            <KeyRow key={provider.id} space={space} provider={provider} />
          ))}
        </ul>
      )}
      {isAdding ? (
        <KeyForm space={space} onDone={() => setAdding(false)} />
      ) : (
        !isArchived && (
          <Button ref={opener} variant="outline" size="sm" className={rows.start} onClick={() => setAdding(true)}>
            Add a key for this space
          </Button>
        )
      )}
    </>
  )
}

function KeyRow({ space, provider }: { space: string; provider: SpaceProvider }): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const [isAsking, setAsking] = useState(false)
  const { id, name, base_url: address } = provider
  return (
    <li>
      <div className={rows.row}>
        <div className={rows.words}>
          <p className={rows.value}>{name}</p>
          <p className={rows.caption}>{address ?? 'Key stored'}</p>
        </div>
        <Button
          variant="ghost"
          size="sm"
          className={rows.danger}
          disabled={busy}
          aria-label={`Remove the key of ${name}`}
          onClick={() => setAsking(true)}
        >
          Remove
        </Button>
      </div>
      <ErrorText>{errorMessage}</ErrorText>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`Remove the key of ${name}`}
        description="It is forgotten. Members go on with their own keys or those of this server, where there are any."
        confirmLabel="Remove"
        onConfirm={() => void run(() => removeSpaceProvider(queryClient, space, id))}
      />
    </li>
  )
}

function KeyForm({ space, onDone }: { space: string; onDone: () => void }): JSX.Element {
  const queryClient = useQueryClient()
  const [kind, setKind] = useState<ProviderKind>('anthropic')
  const { busy, errorMessage, run, clearError } = useAttempt()
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const given = readProvider(kind, form)
    if (await run(() => addSpaceProvider(queryClient, space, given))) onDone()
  }
  return (
    <InlineForm
      label="Add a key for this space"
      errorMessage={errorMessage}
      busy={busy}
      saving="Trying it..."
      onCancel={onDone}
      onInput={clearError}
      onSubmit={submit}
    >
      <ProviderFields kind={kind} onKind={setKind} />
    </InlineForm>
  )
}
