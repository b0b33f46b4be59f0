import type { Query, QueryClient } from '@tanstack/react-query'

/** Ids of rows that the space holds, wherever in the cached data they are. */
function collectIds(value: unknown, space: string, ids: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) collectIds(item, space, ids)
  else if (typeof value === 'object' && value !== null) {
    if ('space_id' in value && value.space_id === space && 'id' in value && typeof value.id === 'string')
      ids.add(value.id)
    for (const item of Object.values(value)) collectIds(item, space, ids)
  }
}

/**
 * Drops what is cached of a space that the person is no longer in: its rows, what is cached by the ids of its conversations
 * and documents, and every list, search or answer in which one of them is. What is shown is read again.
 */
export function forgetSpace(queryClient: QueryClient, space: string): void {
  const ids = new Set([space])
  for (const { queryKey, state } of queryClient.getQueryCache().getAll()) {
    collectIds(queryKey, space, ids)
    collectIds(state.data, space, ids)
  }
  const isOfSpace = ({ queryKey, state }: Query): boolean => {
    const text = JSON.stringify([queryKey, state.data])
    return [...ids].some((id) => text.includes(id))
  }
  queryClient.removeQueries({ predicate: isOfSpace, type: 'inactive' })
  void queryClient.resetQueries({ predicate: isOfSpace, type: 'active' })
}
