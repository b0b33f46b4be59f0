import type { InvalidateQueryFilters, QueryClient } from '@tanstack/react-query'

/**
 * Reads again what is shown of these queries after a change, and resolves when that is there. A first reading that is still under way
 * may be older than the change, and `invalidateQueries` alone would take its answer: it is given up, and who waits for it gets the new one.
 */
export async function refetch(queryClient: QueryClient, filters: InvalidateQueryFilters): Promise<void> {
  void queryClient.cancelQueries({ ...filters, type: 'active' }, { silent: true, revert: false })
  await queryClient.invalidateQueries(filters)
}
