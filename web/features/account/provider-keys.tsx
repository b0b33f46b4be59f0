import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import type { OwnProvider } from '#contract/provider.ts'
import { disconnectProvider, ownProvidersQuery } from '#web/data/providers.ts'
import { Button } from '#web/ui/button.tsx'
import { ConnectionRow } from './connection-row.tsx'
import { EmbeddingsModel } from './embeddings-model.tsx'
import { ProviderForm } from './provider-form.tsx'
import { Refusal, Section } from './section.tsx'
import styles from './connections.module.css'

const describe = ({ base_url, last_four }: OwnProvider): string =>
  [base_url, last_four === null ? 'No key' : `Key ends in ${last_four}`].filter(Boolean).join(' · ')

/** Keys of the person's own, and model servers of their own. A key that was saved is never shown again. */
export function ProviderKeys(): JSX.Element {
  const queryClient = useQueryClient()
  const { data: providers, isError } = useQuery(ownProvidersQuery)
  const [adding, setAdding] = useState(false)
  return (
    <Section title="Model providers">
      <p className={styles.caption}>
        Your own keys are used before those of this server. They are kept encrypted and never shown again.
      </p>
      <Refusal>{isError ? 'Your providers could not be read.' : null}</Refusal>
      {providers !== undefined && providers.length > 0 && (
        <ul className={styles.list}>
          {providers.map((provider) => (
            <ConnectionRow
              key={provider.id}
              name={provider.name}
              onRemove={() => disconnectProvider(queryClient, provider)}
            >
              {describe(provider)}
            </ConnectionRow>
          ))}
        </ul>
      )}
      {adding ? (
        <ProviderForm onDone={() => setAdding(false)} />
      ) : (
        <Button variant="outline" size="sm" className={styles.start} onClick={() => setAdding(true)}>
          Add a key or a server
        </Button>
      )}
      {!adding && providers !== undefined && <EmbeddingsModel providers={providers} />}
    </Section>
  )
}
