import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState, type SubmitEvent, type JSX } from 'react'
import { connectProvider } from '#web/data/model-providers.ts'
import type { ProviderKeyForm } from '#web/data/provider-key-form.ts'
import { ProviderFields, type ProviderKind, readProvider } from '#web/ui/provider-fields.tsx'
import { SaveOrCancel } from '#web/ui/save-or-cancel.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'
import styles from './connections.module.css'

type ProviderFormProps = {
  /** The provider whose key is requested; null: any provider. */
  requested: ProviderKeyForm | null
  onDone: () => void
}

export function ProviderForm({ requested, onDone }: ProviderFormProps): JSX.Element {
  const queryClient = useQueryClient()
  const [kind, setKind] = useState<ProviderKind>(requested?.provider ?? 'anthropic')
  const key = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (requested !== null) key.current?.focus()
  }, [requested])
  const { busy, errorMessage, run, clearError } = useAttempt()
  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const given = readProvider(kind, event.currentTarget)
    if (await run(() => connectProvider(queryClient, given))) onDone()
  }
  return (
    <form
      className={styles.form}
      aria-label="Add a provider"
      onInput={clearError}
      onSubmit={(event) => void submit(event)}
    >
      <ProviderFields kind={kind} onKind={setKind} keyField={key} />
      <SaveOrCancel errorMessage={errorMessage} busy={busy} saving="Trying it..." onCancel={onDone} />
    </form>
  )
}
