import type { QueryClient } from '@tanstack/react-query'
import { documentCounts } from '#contract/document.ts'
import { serverTime } from '#web/data/auth/session.ts'
import { apiFetch } from '#web/data/client.ts'
import { spaceOfChange, type Space } from '#web/data/current-space.ts'
import { refetch } from '#web/data/refetch.ts'
import { documentCountsKey, documentsKey } from './document-queries.ts'
import { untilReachable } from './reachable-server.ts'

interface Telling {
  readonly signal: AbortSignal
  readonly onConnection: (isLost: boolean) => void
  /** Whose documents are meant. */
  readonly space: Space
}

async function untilReached(tell: () => Promise<void>, waiting: Omit<Telling, 'space'>): Promise<void> {
  for (;;) {
    try {
      return await tell()
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      await untilReachable(waiting)
    }
  }
}

/**
 * Lets no further document of the space be read, or lets them be read again; tries again after a lost connection.
 * @throws HttpError if the server refuses; the reason of the signal
 */
export async function pauseReading(
  queryClient: QueryClient,
  paused: boolean,
  /** `isWanted` is asked after a lost connection: the person may have chosen otherwise meanwhile. */
  { isWanted, space, ...waiting }: Telling & { readonly isWanted: () => boolean },
): Promise<void> {
  await untilReached(async () => {
    if (!isWanted()) return
    // Sent to its end also where the person leaves the page.
    const answer = await apiFetch(`/api/documents/queue${spaceOfChange(space)}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ paused }),
      keepalive: true,
    })
    queryClient.setQueryData([...documentCountsKey, space], documentCounts.parse(await answer.json()))
  }, waiting)
}

/**
 * Removes the documents of the space that are not read yet; tries again after a lost connection. Files that another device
 * adds meanwhile stay.
 * @throws HttpError if the server refuses; the reason of the signal
 */
export async function cancelReading(queryClient: QueryClient, { space, ...waiting }: Telling): Promise<void> {
  const parameters = new URLSearchParams({ until: serverTime(), ...(space === null ? {} : { space }) })
  await untilReached(async () => {
    await apiFetch(`/api/documents/queue?${parameters}`, { method: 'DELETE' })
  }, waiting)
  await refetch(queryClient, { queryKey: documentsKey })
}
