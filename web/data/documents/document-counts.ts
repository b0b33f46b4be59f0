import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { documentCounts } from '#contract/document.ts'
import { apiJson } from '#web/data/client.ts'
import { untilMomentKnown } from '#web/data/live/missed-changes.ts'
import { refetch } from '#web/data/refetch.ts'
import { documentCountsKey } from './document-queries.ts'

/** Time between two counts while many documents change. */
const COUNT_INTERVAL_MS = 300

/** How many documents the person has, and how far they are. */
export function documentCountsQuery() {
  return queryOptions({
    queryKey: documentCountsKey,
    queryFn: async ({ signal }) => {
      await untilMomentKnown(signal)
      return apiJson('/api/documents/count', documentCounts, { signal })
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
