import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { documentCounts, type DocumentCounts } from '#contract/document.ts'
import { apiJson } from '#web/data/client.ts'
import { spaceParameter, type Space } from '#web/data/current-space.ts'
import { untilMomentKnown } from '#web/data/live/missed-changes.ts'
import { refetch } from '#web/data/refetch.ts'
import { documentCountsKey } from './document-queries.ts'

/** Time between two counts while many documents change. */
const COUNT_INTERVAL_MS = 300

/** How many documents a space has, or the person, and how far they are. */
export function documentCountsQuery(space: Space) {
  return queryOptions({
    queryKey: [...documentCountsKey, space],
    queryFn: async ({ signal }) => {
      await untilMomentKnown(signal)
      return apiJson(`/api/documents/count?${spaceParameter(space)}`, documentCounts, { signal })
    },
  })
}

const counting = new WeakMap<QueryClient, { isOutdated: boolean }>()

/** Counts at once, or after the count before and a short while: a change of state does not say what it was before. */
export function countDocumentsSoon(queryClient: QueryClient): void {
  const running = counting.get(queryClient)
  if (running !== undefined) {
    running.isOutdated = true
    return
  }
  const count = { isOutdated: false }
  counting.set(queryClient, count)
  void refetch(queryClient, { queryKey: documentCountsKey }).finally(() =>
    setTimeout(() => {
      counting.delete(queryClient)
      if (count.isOutdated) countDocumentsSoon(queryClient)
    }, COUNT_INTERVAL_MS),
  )
}

/** Whether documents of a space that the page shows, or showed, are being read. */
export const isReadingDocuments = (queryClient: QueryClient): boolean =>
  queryClient
    .getQueriesData<DocumentCounts>({ queryKey: documentCountsKey })
    .some(([, counts]) => (counts?.being_read ?? 0) > 0)
