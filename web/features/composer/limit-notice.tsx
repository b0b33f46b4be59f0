import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, type JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { ownLimitsQuery } from '#web/data/usage.ts'
import { describeScarceLimit } from '#web/lib/format/limits.ts'
import styles from './composer.module.css'

/** Says what is left of the scarcest limit, read again after each message where there are limits. */
export function LimitNotice(): JSX.Element | null {
  const { id } = useUser()
  const queryClient = useQueryClient()
  const { data: limits = [], refetch } = useQuery(ownLimitsQuery(id))
  const hasLimits = limits.length > 0
  useEffect(() => {
    if (!hasLimits) return
    return queryClient.getQueryCache().subscribe(({ type, query }) => {
      const [key] = query.queryKey as readonly unknown[]
      const isMessages = typeof key === 'string' && key.endsWith('/messages')
      if (type === 'updated' && isMessages && query.state.fetchStatus === 'idle') void refetch()
    })
  }, [queryClient, refetch, hasLimits])
  const sentence = describeScarceLimit(limits)
  return (
    <span role="status" className={sentence === null ? undefined : styles.limit}>
      {sentence}
    </span>
  )
}
