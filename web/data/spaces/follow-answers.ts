import type { QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { addFollower } from '#web/data/live/connection.ts'
import { joinChannel } from '#web/data/live/join-channel.ts'
import { logFailure } from '#web/data/live/log-failure.ts'
import { refetch } from '#web/data/refetch.ts'
import { spaceFilters } from './space-filters.ts'
import { forgetUnread, noteAnswer, noteRead, unreadConversation } from './unread-answers.ts'
import { unreadKey } from './unread-key.ts'

/** Several answers in a row are read at once. */
const READ_AGAIN_AFTER_MS = 300

const mark = unreadConversation.pick({ conversation_id: true, position: true })
const deletedRow = z.object({ id: z.uuid() })

/**
 * Follows the newest answers of the person's conversations, and of those in the spaces; and what is read on other devices.
 * Returns the function that stops.
 */
export function followAnswers(queryClient: QueryClient, userId: string, spaceIds: readonly string[]): () => void {
  const readAgain = (): Promise<void> => refetch(queryClient, { queryKey: unreadKey })
  let timer: ReturnType<typeof setTimeout> | undefined
  const answered = (change: { eventType: string; new: unknown }): void => {
    if (change.eventType !== 'INSERT') {
      // An older answer may be the newest now, or the conversation may have moved: the server decides.
      clearTimeout(timer)
      timer = setTimeout(() => logFailure(readAgain()), READ_AGAIN_AFTER_MS)
      return
    }
    const row = unreadConversation.safeParse(change.new).data
    if (row) noteAnswer(queryClient, row)
  }
  const table = { event: '*', schema: 'public' } as const
  const leave = joinChannel(
    (client) => {
      const channel = client
        .channel(`answers:${userId}`)
        .on('postgres_changes', { ...table, table: 'latest_answers', filter: `owner=eq.${userId}` }, answered)
        .on('postgres_changes', { ...table, table: 'conversation_reads', filter: `user_id=eq.${userId}` }, (change) => {
          const row = mark.safeParse(change.new).data
          if (row) noteRead(queryClient, row.conversation_id, row.position)
        })
        .on('postgres_changes', { event: 'DELETE', schema: 'public', table: 'conversations' }, (change) => {
          const row = deletedRow.safeParse(change.old).data
          if (row) forgetUnread(queryClient, row.id)
        })
      for (const filter of spaceFilters(spaceIds))
        channel.on('postgres_changes', { ...table, table: 'latest_answers', filter }, answered)
      return channel
    },
    { onJoined: () => logFailure(readAgain()), onChangesReady: () => logFailure(readAgain()) },
  )
  // Changes by HTTP do not tell of them.
  const stopPolling = addFollower({ isExpecting: () => false, apply: readAgain })
  return () => {
    clearTimeout(timer)
    stopPolling()
    leave()
  }
}
