import { hashKey, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, type JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { messagesKey } from '#web/data/messages.ts'
import { ownLimitsQuery } from '#web/data/usage.ts'
import { describeScarceLimit } from '#web/lib/format/limits.ts'
import styles from './composer.module.css'

/** An answer writes its messages several times. */
const READ_AGAIN_AFTER_MS = 500

/** Says what is left of the scarcest limit, read again after each message of the open conversation where there are limits. */
export function LimitNotice({ conversationId }: { conversationId: string | null }): JSX.Element | null {
  const { id } = useUser()
  const queryClient = useQueryClient()
  const { data: limits = [], refetch } = useQuery(ownLimitsQuery(id))
  const hasLimits = limits.length > 0
  useEffect(() => {
    if (!hasLimits) return
    const open = conversationId === null ? null : hashKey(messagesKey(conversationId))
    let timer: ReturnType<typeof setTimeout> | undefined
    const unsubscribe = queryClient.getQueryCache().subscribe(({ type, query }) => {
      if (type !== 'updated' || query.queryHash !== open || query.state.fetchStatus !== 'idle') return
      clearTimeout(timer)
      timer = setTimeout(() => void refetch(), READ_AGAIN_AFTER_MS)
    })
    const readWhenVisible = (): void => {
      if (document.visibilityState === 'visible') void refetch()
    }
    document.addEventListener('visibilitychange', readWhenVisible)
    return () => {
      clearTimeout(timer)
      unsubscribe()
      document.removeEventListener('visibilitychange', readWhenVisible)
    }
  }, [queryClient, refetch, hasLimits, conversationId])
  const sentence = describeScarceLimit(limits)
  return (
    <span role="status" className={sentence === null ? undefined : styles.limit}>
      {sentence}
    </span>
  )
}
