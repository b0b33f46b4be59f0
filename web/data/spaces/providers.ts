/** Keys of model providers that owners put into a space. */
import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import type { NewPersonalProvider } from '#contract/provider.ts'
import { spaceProvider } from '#contract/space.ts'
import { apiFetch, apiJson, apiSend } from '#web/data/client.ts'
import { refetchModels } from '#web/data/models.ts'
import { refetch } from '#web/data/refetch.ts'

const path = (space: string): string => `/api/spaces/${space}/providers`

/** Only owners read them; the keys themselves are never sent. */
export const spaceProvidersQuery = (space: string) =>
  queryOptions({ queryKey: [path(space)] as const, queryFn: () => apiJson(path(space), z.array(spaceProvider)) })

async function reload(queryClient: QueryClient, space: string): Promise<void> {
  await Promise.all([refetch(queryClient, { queryKey: [path(space)] }), refetchModels(queryClient)])
}

/** The server tests the provider first. @throws HttpError with the reason of a failure */
export async function addSpaceProvider(
  queryClient: QueryClient,
  space: string,
  given: NewPersonalProvider,
): Promise<void> {
  await apiSend('POST', path(space), given)
  await reload(queryClient, space)
}

export async function removeSpaceProvider(queryClient: QueryClient, space: string, id: string): Promise<void> {
  await apiFetch(`${path(space)}/${id}`, { method: 'DELETE' })
  await reload(queryClient, space)
}
