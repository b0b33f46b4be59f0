import { queryOptions } from '@tanstack/react-query'
import { ownUsage } from '#contract/usage.ts'
import { rest } from './client.ts'

/** No live change tells of new usage, so it is read each time that it is shown. */
export function usageQuery(userId: string) {
  return queryOptions({
    queryKey: ['own_usage', userId],
    async queryFn() {
      const { data, error } = await rest().rpc('own_usage', {}, { get: true }).single()
      if (error !== null) throw new Error(error.message, { cause: error })
      return ownUsage.parse(data)
    },
    staleTime: 0,
  })
}
