import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { messagesQuery } from '#web/data/messages.ts'
import { markRead, unreadQuery } from '#web/data/spaces/unread-answers.ts'
import type { Thread } from '#web/lib/messages/merge-messages.ts'

const newestAnswer = ({ messages }: Thread): number =>
  messages.findLast(({ sender_role: role }) => role === SENDER_ROLES.assistant)?.position ?? 0

function followVisibility(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed)
  return () => document.removeEventListener('visibilitychange', changed)
}

const isPageVisible = (): boolean => document.visibilityState === 'visible'

/** Marks the open conversation as read up to the newest answer that it shows, while the page is visible. */
export function useReadMarks(chatId: string | null): void {
  const queryClient = useQueryClient()
  const isVisible = useSyncExternalStore(followVisibility, isPageVisible)
  const { data: shown } = useQuery({
    ...messagesQuery(chatId ?? ''),
    enabled: chatId !== null,
    select: newestAnswer,
    // The chat offers to try again: a second reader that comes later must not take that away.
    retryOnMount: false,
  })
  const { data: unread } = useQuery(unreadQuery)
  const answered = unread?.find((row) => row.conversation_id === chatId)?.position
  const isShown = answered !== undefined && shown !== undefined && shown >= answered
  useEffect(() => {
    if (chatId !== null && isVisible && isShown) markRead(queryClient, chatId, shown)
  }, [queryClient, chatId, isVisible, isShown, shown])
}
