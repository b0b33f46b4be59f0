import { queryOptions } from '@tanstack/react-query'
import { ownDailyUsage, ownLimits, ownUsage } from '#contract/usage.ts'
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

/** Limits that are set, and what the person used of them. */
export function ownLimitsQuery(userId: string) {
  return queryOptions({
    queryKey: ['own_limits', userId],
    async queryFn() {
      const answer = await rest().rpc('own_limits', {})
      if (answer.error !== null) throw new Error(answer.error.message, { cause: answer.error })
      return ownLimits.parse(answer.data)
    },
  })
}

const USAGE_DAYS = 30

/** Days without use are missing. */
export function ownDailyUsageQuery(userId: string) {
  return queryOptions({
    queryKey: ['own_daily_usage', userId],
    async queryFn() {
      const answer = await rest().rpc('own_daily_usage', { days: USAGE_DAYS }, { get: true })
      if (answer.error !== null) throw new Error(answer.error.message, { cause: answer.error })
      return ownDailyUsage.parse(answer.data)
    },
    staleTime: 0,
  })
}
