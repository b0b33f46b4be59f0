import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState, type SubmitEvent, type JSX } from 'react'
import type { NewPersonalProvider } from '#contract/provider.ts'
import { connectProvider } from '#web/data/model-providers.ts'
import type { ProviderKeyForm } from '#web/data/provider-key-form.ts'
import { TextField } from '#web/ui/text-field.tsx'
import { SaveOrCancel } from '#web/ui/save-or-cancel.tsx'
import { SelectField } from '#web/ui/select-field.tsx'
import { formText } from './form-text.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import styles from './connections.module.css'

type Kind = NewPersonalProvider['kind']

const KINDS: readonly { value: Kind; label: string }[] = [
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'openai', label: 'OpenAI' },
  { value: 'compatible', label: 'OpenAI-compatible server' },
]

function providerOf(kind: Kind, form: FormData): NewPersonalProvider {
  const apiKey = formText(form, 'apiKey')
  if (kind !== 'compatible') return { kind, apiKey }
  const endpoint = { kind, name: formText(form, 'name'), baseUrl: formText(form, 'baseUrl') }
  return apiKey === '' ? endpoint : { ...endpoint, apiKey }
}

type ProviderFormProps = {
  /** The provider whose key is requested; null: any provider. */
  requested: ProviderKeyForm | null
  onDone: () => void
}

export function ProviderForm({ requested, onDone }: ProviderFormProps): JSX.Element {
  const queryClient = useQueryClient()
  const [kind, setKind] = useState<Kind>(requested?.provider ?? 'anthropic')
  const key = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (requested !== null) key.current?.focus()
  }, [requested])
  const { busy, errorMessage, run, clearError } = useAttempt()
  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const given = providerOf(kind, new FormData(event.currentTarget))
    if (await run(() => connectProvider(queryClient, given))) onDone()
  }
  return (
    <form
      className={styles.form}
      aria-label="Add a provider"
      onInput={clearError}
      onSubmit={(event) => void submit(event)}
    >
      <SelectField
        label="Provider"
        value={kind}
        options={KINDS}
        onChange={(chosen) => setKind(KINDS.find(({ value }) => value === chosen)?.value ?? kind)}
      />
      {kind === 'compatible' && (
        <>
          <TextField label="Name" name="name" required maxLength={60} placeholder="My server" />
          <TextField label="Address" name="baseUrl" type="url" required placeholder="https://models.example.org/v1" />
        </>
      )}
      <TextField
        label={kind === 'compatible' ? 'Key (if it wants one)' : 'Key'}
        ref={key}
        name="apiKey"
        type="password"
        autoComplete="off"
        required={kind !== 'compatible'}
      />
      <SaveOrCancel errorMessage={errorMessage} busy={busy} saving="Trying it..." onCancel={onDone} />
    </form>
  )
}
