import { queryOptions, type QueryClient } from '@tanstack/react-query'
import {
  embeddingsOffers,
  embeddingsState,
  type ChosenEmbeddings,
  type EmbeddingsChoice,
} from '#contract/embeddings.ts'
import { apiFetch, apiJson, apiSend } from './client.ts'
import { ownProvidersQuery } from './model-providers.ts'
import { refetch } from './refetch.ts'

const COUNTING_INTERVAL_MS = 2_000

export const isIndexing = ({ available, embedded, passages, source }: ChosenEmbeddings): boolean =>
  available && embedded < passages && source !== 'operator'

/** Which model searches by meaning, and how far it has read the library: read again until it has read all. */
export const embeddingsQuery = queryOptions({
  queryKey: ['/api/embeddings', 'state'],
  queryFn: () => apiJson('/api/embeddings', embeddingsState),
  staleTime: 0,
  refetchInterval: ({ state }) => (state.data?.chosen && isIndexing(state.data.chosen) ? COUNTING_INTERVAL_MS : false),
})

/** The server asks every endpoint for its models. */
export const embeddingsOffersQuery = queryOptions({
  queryKey: ['/api/embeddings', 'offers'],
  queryFn: () => apiJson('/api/embeddings/offers', embeddingsOffers),
  retry: false,
})

async function reload(queryClient: QueryClient): Promise<void> {
  await Promise.all(
    [embeddingsQuery, ownProvidersQuery].map(({ queryKey }) => refetch(queryClient, { queryKey: [...queryKey] })),
  )
}

/** The server tests the model first. @throws HttpError with the reason of a failure */
export async function chooseEmbeddings(queryClient: QueryClient, choice: EmbeddingsChoice): Promise<void> {
  await apiSend('PUT', '/api/embeddings', choice)
  await reload(queryClient)
}

/** Also deletes what was computed. */
export async function stopEmbeddings(queryClient: QueryClient): Promise<void> {
  await apiFetch('/api/embeddings', { method: 'DELETE' })
  await reload(queryClient)
}
