import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type JSX } from 'react'
import type { PersonalProvider } from '#contract/provider.ts'
import { disconnectProvider, ownProvidersQuery } from '#web/data/model-providers.ts'
import { closeProviderKeyForm, useProviderKeyForm } from '#web/data/provider-key-form.ts'
import { Button } from '#web/ui/button.tsx'
import { useFocusAfterField } from '#web/ui/use-focus-after-field.ts'
import { ConnectionRow } from './connection-row.tsx'
import { ProviderForm } from './provider-form.tsx'
import { SearchByMeaning } from './search-by-meaning.tsx'
import { ErrorText, Section } from '#web/ui/section.tsx'
import styles from './connections.module.css'

function describe({ base_url, last_four }: PersonalProvider): string {
  const key = last_four === null ? 'No key' : last_four === '' ? 'Key kept' : `Key ends in ${last_four}`
  return [base_url, key].filter(Boolean).join(' · ')
}

const removalWarning = ({ kind, last_four }: PersonalProvider): string =>
  kind === 'compatible'
    ? `Its models leave the list${last_four === null ? '' : ', and its key is forgotten'}. Conversations that use them stay, and go on with another model.`
    : 'Its key is forgotten. Conversations with its models stay, and go on with another model unless this server has a key of its own.'

export function ProviderKeys(): JSX.Element {
  const queryClient = useQueryClient()
  const { data: providers, isError } = useQuery(ownProvidersQuery)
  const wanted = useProviderKeyForm((state) => state.wanted)
  const [pressed, setPressed] = useState(false)
  const adding = pressed || wanted !== null
  const opener = useFocusAfterField(adding)
  useEffect(() => closeProviderKeyForm, [])
  return (
    <Section title="Model providers">
      <p className={styles.caption}>
        Your own keys are used before those of this server. They are kept encrypted and never shown again.
      </p>
      <ErrorText>{isError ? 'Your providers could not be read.' : null}</ErrorText>
      {providers !== undefined && providers.length > 0 && (
        <ul className={styles.list}>
          {providers.map((provider) => (
            <ConnectionRow
              key={provider.id}
              name={provider.name}
              warning={removalWarning(provider)}
              onRemove={() => disconnectProvider(queryClient, provider)}
            >
              {describe(provider)}
            </ConnectionRow>
          ))}
        </ul>
      )}
      {adding ? (
        <ProviderForm
          key={wanted?.provider}
          requested={wanted}
          onDone={() => {
            setPressed(false)
            closeProviderKeyForm()
          }}
        />
      ) : (
        <Button ref={opener} variant="outline" size="sm" className={styles.start} onClick={() => setPressed(true)}>
          Add a key or a server
        </Button>
      )}
      {!adding && providers !== undefined && <SearchByMeaning providers={providers} />}
    </Section>
  )
}
