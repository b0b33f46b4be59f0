import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import {
  personalProvider,
  type NewPersonalProvider,
  type PersonalProvider,
  type ProviderPatch,
} from '#contract/provider.ts'
import { apiFetch, apiJson, apiSend } from './client.ts'
import { refetchModels } from './models.ts'
import { refetch } from './refetch.ts'

export const ownProvidersQuery = queryOptions({
  queryKey: ['/api/providers'],
  queryFn: () => apiJson('/api/providers', z.array(personalProvider)),
})

async function reload(queryClient: QueryClient): Promise<void> {
  await Promise.all([
    refetch(queryClient, { queryKey: ownProvidersQuery.queryKey }),
    refetch(queryClient, { queryKey: ['/api/embeddings'] }),
    refetchModels(queryClient),
  ])
}

/** The server tests the provider first. @throws HttpError with the reason of a failure */
export async function connectProvider(queryClient: QueryClient, given: NewPersonalProvider): Promise<void> {
  await apiSend('POST', '/api/providers', given)
  await reload(queryClient)
}

export async function disconnectProvider(queryClient: QueryClient, { id }: PersonalProvider): Promise<void> {
  await apiFetch(`/api/providers/${id}`, { method: 'DELETE' })
  await reload(queryClient)
}

/** The server tests the embedding model first. @throws HttpError with the reason of a failure */
export async function changeProvider(queryClient: QueryClient, id: string, patch: ProviderPatch): Promise<void> {
  await apiSend('PATCH', `/api/providers/${id}`, patch)
  await reload(queryClient)
}
