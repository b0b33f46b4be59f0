import type { QueryClient } from '@tanstack/react-query'
import { messageRow } from '#contract/message.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { conversationQuery } from '#web/data/conversations.ts'
import { joinChannel } from '#web/data/live/join-channel.ts'
import { logFailure } from '#web/data/live/log-failure.ts'
import { parseRouteState } from '#web/lib/route-state.ts'
import { countUnreadAnswer } from './unread-answers.ts'

const answer = messageRow.pick({ conversation_id: true })

/** Counts answers that arrive in spaces which the page does not show. Returns the function that stops. */
export function followUnreadAnswers(queryClient: QueryClient): () => void {
  const count = async (id: string): Promise<void> => {
    const conversation = await queryClient.query({ ...conversationQuery(id), staleTime: 'static' })
    const space = conversation?.space_id ?? null
    if (conversation !== null && space !== parseRouteState(location.search).spaceId) countUnreadAnswer(space)
  }
  return joinChannel(
    (client) =>
      client.channel('answers').on(
        'postgres_changes',
        {
          event: 'INSERT',
          schema: 'public',
          table: 'messages',
          filter: `sender_role=eq.${SENDER_ROLES.assistant}`,
        },
        (change) => {
          const row = answer.safeParse(change.new).data
          if (row) logFailure(count(row.conversation_id))
        },
      ),
    {},
  )
}
