import type { QueryClient } from '@tanstack/react-query'
import { messageRow, type MessageRow } from '#contract/message.ts'
import { conversationTopic, REPLY_EVENT, replyPart } from '#contract/reply-events.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { conversationKey, conversationQuery } from '#web/data/conversations.ts'
import { addFollower } from '#web/data/live/connection.ts'
import { joinChannel } from '#web/data/live/join-channel.ts'
import { logFailure } from '#web/data/live/log-failure.ts'
import { cacheMessages, refetchNewestMessages } from '#web/data/messages.ts'
import { refetch } from '#web/data/refetch.ts'
import { receiveAnswer, setReply, useThreadStore } from '#web/data/thread-store.ts'
import { createReplyStream } from './reply-stream.ts'
import { isMessageCached, isReplyAwaited, replaceReplyByRow } from './stored-reply.ts'

export function followConversation(queryClient: QueryClient, conversationId: string): () => void {
  let isStopped = false

  const refetchMessages = async (): Promise<void> => {
    await refetchNewestMessages(queryClient, conversationId)
    if (!isStopped) replaceReplyByRow(queryClient, conversationId)
  }
  const reply = createReplyStream(queryClient, conversationId, refetchMessages)

  const cacheRow = (row: MessageRow): void => {
    cacheMessages(queryClient, conversationId, [row])
    if (row.sender_role === SENDER_ROLES.assistant) receiveAnswer(conversationId, row.content)
    replaceReplyByRow(queryClient, conversationId)
  }
  const receiveRow = (change: { new: unknown }): void => {
    const row = messageRow.safeParse(change.new)
    if (row.success) cacheRow(row.data)
    else logFailure(refetchMessages())
  }

  const leaveMessages = joinChannel(
    (client) =>
      client
        .channel(`messages:${conversationId}`)
        .on(
          'postgres_changes',
          { event: 'INSERT', schema: 'public', table: 'messages', filter: `conversation_id=eq.${conversationId}` },
          receiveRow,
        )
        .on(
          'postgres_changes',
          { event: 'UPDATE', schema: 'public', table: 'messages', filter: `conversation_id=eq.${conversationId}` },
          receiveRow,
        ),
    { onJoined: () => logFailure(refetchMessages()), onChangesReady: () => logFailure(refetchMessages()) },
  )
  const leaveReply = joinChannel(
    (client) =>
      client
        .channel(conversationTopic(conversationId), { config: { private: true } })
        .on('broadcast', { event: REPLY_EVENT }, ({ payload }) => {
          const part = replyPart.safeParse(payload)
          if (part.success) reply.receivePart(part.data)
          else console.error('A part of a reply has an unknown shape', part.error)
        }),
    {
      onJoined: () => logFailure(reply.catchUp()),
      onClosed: () => logFailure(refetch(queryClient, { queryKey: conversationKey(conversationId), exact: true })),
      isReadable: async () =>
        (await queryClient.query({ ...conversationQuery(conversationId), staleTime: 0 })) !== null,
    },
  )
  const stopPolling = addFollower({
    conversationId,
    isExpecting: () =>
      useThreadStore.getState().replies[conversationId] !== undefined || isReplyAwaited(queryClient, conversationId),
    read: reply.poll,
    apply: async (changes, isFirst) => {
      if (isFirst || changes === null) await refetchMessages()
      else changes.messages?.filter((row) => !isMessageCached(queryClient, row)).forEach(cacheRow)
      replaceReplyByRow(queryClient, conversationId)
      reply.endAwaiting()
    },
  })

  return () => {
    isStopped = true
    stopPolling()
    reply.stop()
    leaveMessages()
    leaveReply()
    setReply(conversationId, null)
  }
}
