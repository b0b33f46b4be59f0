import type { InvalidateQueryFilters, QueryClient } from '@tanstack/react-query'
import { isUnreachable } from './client.ts'

/**
 * Cancels first fetches, whose waiters get the new data: `invalidateQueries` alone would accept their answer, which may
 * be older than the change.
 */
export async function refetch(queryClient: QueryClient, filters: InvalidateQueryFilters): Promise<void> {
  void queryClient.cancelQueries({ ...filters, type: 'active' }, { silent: true, revert: false })
  await queryClient.invalidateQueries(filters)
}

/** Reads those shown queries again that had found no server, but for those that are being read. */
export async function refetchUnreached(queryClient: QueryClient): Promise<void> {
  await queryClient.refetchQueries({
    type: 'active',
    predicate: ({ state }) => state.fetchStatus === 'idle' && isUnreachable(state.error),
  })
}
