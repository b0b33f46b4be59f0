import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState, type JSX } from 'react'
import { connectProvider } from '#web/data/model-providers.ts'
import type { ProviderKeyForm } from '#web/data/provider-key-form.ts'
import { ProviderFields, type ProviderKind, readProvider } from '#web/ui/provider-fields.tsx'
import { InlineForm } from '#web/ui/inline-form.tsx'
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
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const given = readProvider(kind, form)
    if (await run(() => connectProvider(queryClient, given))) onDone()
  }
  return (
    <InlineForm
      label="Add a provider"
      className={styles.form}
      errorMessage={errorMessage}
      busy={busy}
      saving="Trying it..."
      onCancel={onDone}
      onInput={clearError}
      onSubmit={submit}
    >
      <ProviderFields kind={kind} onKind={setKind} keyField={key} />
    </InlineForm>
  )
}
