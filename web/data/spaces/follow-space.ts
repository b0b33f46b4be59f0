import type { RealtimeChannel } from '@supabase/realtime-js'
import type { QueryClient } from '@tanstack/react-query'
import { conversationRow } from '#contract/conversation.ts'
import { cacheConversation, leaveConversation, refetchConversationLists } from '#web/data/conversations.ts'
import { applyDocumentChange } from '#web/data/documents/document-cache.ts'
import { documentsKey } from '#web/data/documents/document-queries.ts'
import { joinChannel } from '#web/data/live/join-channel.ts'
import { logFailure } from '#web/data/live/log-failure.ts'
import { refetch } from '#web/data/refetch.ts'
import { clearPresence, storePresence } from './presence.ts'
import { spacesKey, spacesQuery } from './spaces.ts'
import { unreadKey } from './unread-key.ts'

/** Told to the other members. */
export interface OwnPresence {
  readonly conversation: string | null
  readonly typing: boolean
}

export interface FollowedSpace {
  readonly tell: (own: OwnPresence) => void
  readonly stop: () => void
}

const deletedRow = conversationRow.pick({ id: true })

/** Follows conversations and documents of a space, and who is there. */
export function followSpace(queryClient: QueryClient, space: string, userId: string): FollowedSpace {
  const refetchRows = async (): Promise<void> => {
    await Promise.all([refetchConversationLists(queryClient), refetch(queryClient, { queryKey: documentsKey })])
  }
  let joins = 0
  const leaveRows = joinChannel(
    (client) =>
      client
        .channel(`space-rows:${space}`)
        .on(
          'postgres_changes',
          { event: '*', schema: 'public', table: 'conversations', filter: `space_id=eq.${space}` },
          (change) => {
            const gone = change.eventType === 'DELETE' ? deletedRow.safeParse(change.old).data : undefined
            const row = conversationRow.safeParse(change.new).data
            if (gone) leaveConversation(queryClient, gone.id)
            else if (row) cacheConversation(queryClient, row)
          },
        )
        .on(
          'postgres_changes',
          { event: '*', schema: 'public', table: 'documents', filter: `library=eq.${space}` },
          (change) => applyDocumentChange(queryClient, change),
        ),
    {
      onChangesReady: () => logFailure(refetchRows()),
      onJoined: () => {
        joins += 1
        if (joins > 1) logFailure(refetchRows())
      },
    },
  )

  let own: OwnPresence = { conversation: null, typing: false }
  let channel: RealtimeChannel | null = null
  let isJoined = false
  const track = (): void => {
    if (isJoined && channel !== null) logFailure(channel.track({ user: userId, ...own }))
  }
  const leavePresence = joinChannel(
    (client) => {
      const joined = client.channel(`space:${space}`, {
        config: { private: true, presence: { key: `${userId}:${crypto.randomUUID()}` } },
      })
      channel = joined
      // A row that has left the space, or is no longer shared, is not among its changes.
      joined.on('broadcast', { event: 'gone' }, () => {
        logFailure(refetchRows())
        logFailure(refetch(queryClient, { queryKey: unreadKey }))
      })
      return joined.on('presence', { event: 'sync' }, () => storePresence(joined.presenceState()))
    },
    {
      onJoined: () => {
        isJoined = true
        track()
      },
      onClosed: () => {
        isJoined = false
        clearPresence()
        logFailure(refetch(queryClient, { queryKey: spacesKey }))
      },
      isReadable: async () =>
        (await queryClient.query({ ...spacesQuery, staleTime: 0 })).some(({ id }) => id === space),
    },
  )
  return {
    tell: (next) => {
      if (next.conversation === own.conversation && next.typing === own.typing) return
      own = next
      track()
    },
    stop: () => {
      leaveRows()
      leavePresence()
      clearPresence()
    },
  }
}
