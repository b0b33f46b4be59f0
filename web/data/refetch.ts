import type { InvalidateQueryFilters, QueryClient } from '@tanstack/react-query'

/**
 * Refetches the active queries that match, and resolves with their new data. A first fetch in progress may be older
 * than the change, and `invalidateQueries` alone would accept its answer: it is cancelled, and its waiters get the new
 * one.
 */
export async function refetch(queryClient: QueryClient, filters: InvalidateQueryFilters): Promise<void> {
  void queryClient.cancelQueries({ ...filters, type: 'active' }, { silent: true, revert: false })
  await queryClient.invalidateQueries(filters)
}
