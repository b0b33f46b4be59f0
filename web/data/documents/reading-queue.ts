import type { QueryClient } from '@tanstack/react-query'
import { documentCounts } from '#contract/document.ts'
import { apiFetch, apiSend } from '#web/data/client.ts'
import { refetch } from '#web/data/refetch.ts'
import { documentCountsKey, documentsKey } from './document-queries.ts'

/** Lets no further document of the person be read, or lets them be read again. */
export async function pauseReading(queryClient: QueryClient, paused: boolean): Promise<void> {
  const answer = await apiSend('PATCH', '/api/documents/queue', { paused })
  queryClient.setQueryData(documentCountsKey, documentCounts.parse(await answer.json()))
}

/** Removes the documents that are not read yet. */
export async function cancelReading(queryClient: QueryClient): Promise<void> {
  await apiFetch('/api/documents/queue', { method: 'DELETE' })
  await refetch(queryClient, { queryKey: documentsKey })
}
