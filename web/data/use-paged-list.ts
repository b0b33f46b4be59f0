import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { LoadedRows, PagedList } from './paged-list.ts'

const NO_ROWS: readonly never[] = []

export interface PagedRows<Row> {
  readonly rows: readonly Row[]
  readonly hasMore: boolean
  /** No rows yet, not even those of another view. */
  readonly isPending: boolean
  /** The rows are those of the view before. */
  readonly isOutdated: boolean
  readonly isError: boolean
  readonly reload: () => void
  readonly readMore: () => void
  readonly isReadingMore: boolean
  readonly failedToReadMore: boolean
}

/**
 * The loaded rows of a list. While another view is read, they stay, or its preview is shown.
 * @param preview the same object in every render of a view: another one would be drawn, in a circle
 */
export function usePagedList<Row, View>(
  list: PagedList<Row, View>,
  view: View,
  preview?: LoadedRows<Row>,
): PagedRows<Row> {
  const queryClient = useQueryClient()
  const query = useQuery({ ...list.query(view), placeholderData: (previous) => preview ?? previous })
  const next = useMutation({ mutationFn: () => list.readMore(queryClient, view) })
  return {
    rows: query.data?.rows ?? NO_ROWS,
    hasMore: query.data?.hasMore ?? false,
    isPending: query.isPending,
    isOutdated: query.isPlaceholderData,
    isError: query.isError,
    reload: () => void query.refetch(),
    readMore: () => {
      if (!next.isPending && !query.isPlaceholderData) next.mutate()
    },
    isReadingMore: next.isPending,
    failedToReadMore: next.isError,
  }
}
