import type { QueryClient } from '@tanstack/react-query'
import { documentCounts } from '#contract/document.ts'
import { apiFetch } from '#web/data/client.ts'
import { refetch } from '#web/data/refetch.ts'
import { spaceOfChange, type Space } from '#web/data/spaces/current-space.ts'
import { documentCountsKey, documentsKey } from './document-queries.ts'
import { untilReachable } from './reachable-server.ts'

interface Telling {
  readonly signal: AbortSignal
  readonly onConnection: (isLost: boolean) => void
  /** Asked after a lost connection: the person may have chosen otherwise meanwhile. */
  readonly isWanted: () => boolean
  /** Whose documents are meant. */
  readonly space: Space
}

/**
 * Lets no further document of the space be read, or lets them be read again; tries again after a lost connection.
 * @throws HttpError if the server refuses; the reason of the signal
 */
export async function pauseReading(queryClient: QueryClient, paused: boolean, telling: Telling): Promise<void> {
  const { signal, onConnection, isWanted, space } = telling
  while (isWanted()) {
    try {
      // Sent to its end also where the person leaves the page.
      const answer = await apiFetch(`/api/documents/queue${spaceOfChange(space)}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ paused }),
        keepalive: true,
      })
      queryClient.setQueryData([...documentCountsKey, space], documentCounts.parse(await answer.json()))
      return
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      await untilReachable({ signal, onConnection })
    }
  }
}

/** Removes the documents that are not read yet. */
export async function cancelReading(queryClient: QueryClient, space: Space): Promise<void> {
  await apiFetch(`/api/documents/queue${spaceOfChange(space)}`, { method: 'DELETE' })
  await refetch(queryClient, { queryKey: documentsKey })
}
