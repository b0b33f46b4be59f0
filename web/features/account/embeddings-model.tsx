import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import type { PersonalProvider } from '#contract/provider.ts'
import { changeProvider } from '#web/data/model-providers.ts'
import { Button } from '#web/ui/button.tsx'
import { useFocusAfterField } from '#web/ui/use-focus-after-field.ts'
import { TextField } from '#web/ui/text-field.tsx'
import { InlineForm } from '#web/ui/inline-form.tsx'
import { ErrorText } from '#web/ui/section.tsx'
import { SelectField } from '#web/ui/select-field.tsx'
import { formText } from '#web/ui/form-text.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import styles from './connections.module.css'

function ModelForm({ providers, onDone }: { providers: readonly PersonalProvider[]; onDone: () => void }): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const [providerId, setProviderId] = useState(providers[0]?.id ?? '')
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const model = formText(new FormData(form), 'model')
    if (await run(() => changeProvider(queryClient, providerId, { embeddings_model: model }))) onDone()
  }
  return (
    <InlineForm
      label="Search by meaning"
      className={styles.form}
      errorMessage={errorMessage}
      busy={busy}
      saving="Trying it..."
      onCancel={onDone}
      onSubmit={submit}
    >
      <SelectField
        label="Provider"
        value={providerId}
        options={providers.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={setProviderId}
      />
      <TextField label="Embeddings model" name="model" required maxLength={150} placeholder="text-embedding-3-small" />
    </InlineForm>
  )
}

type EmbeddingsModelProps = {
  providers: readonly PersonalProvider[]
  /** Whether a switch shows the chosen model already. */
  isOffered: boolean
}

/** Chooses a model by its name, for providers that do not list it. */
export function EmbeddingsModel({ providers, isOffered }: EmbeddingsModelProps): JSX.Element | null {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const [choosing, setChoosing] = useState(false)
  const opener = useFocusAfterField(choosing)
  const able = providers.filter(({ kind }) => kind !== 'anthropic')
  const chosen = able.find((provider) => provider.embeddings_model !== null)
  if (able.length === 0) return null
  if (choosing) return <ModelForm providers={able} onDone={() => setChoosing(false)} />
  return (
    <>
      {!isOffered && (
        <p className={styles.caption}>
          {chosen === undefined
            ? 'A provider of yours can also search your documents by meaning: their text is sent to it.'
            : `Your documents are searched by meaning with ${chosen.embeddings_model ?? ''} of ${chosen.name}.`}
        </p>
      )}
      <ErrorText>{errorMessage}</ErrorText>
      <div className={styles.choices}>
        <Button ref={opener} variant="outline" size="sm" onClick={() => setChoosing(true)}>
          {chosen === undefined ? 'Choose an embeddings model' : 'Choose another model'}
        </Button>
        {chosen !== undefined && !isOffered && (
          <Button
            variant="ghost"
            size="sm"
            disabled={busy}
            onClick={() => void run(() => changeProvider(queryClient, chosen.id, { embeddings_model: null }))}
          >
            Stop
          </Button>
        )}
      </div>
    </>
  )
}
