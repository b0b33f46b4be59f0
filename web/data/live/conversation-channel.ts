import type { QueryClient } from '@tanstack/react-query'
import { messageRow } from '#contract/message.ts'
import { conversationTopic, REPLY_EVENT, replyPart } from '#contract/reply-events.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { cacheMessages, refetchNewestMessages } from '#web/data/messages.ts'
import { receiveAnswer, setReply } from '#web/data/thread-store.ts'
import { joinChannel, onChangesReady } from './join-channel.ts'
import { logFailure } from './log-failure.ts'
import { createReplyStream } from './reply-stream.ts'
import { replaceReplyByRow } from './stored-reply.ts'

export function followConversation(queryClient: QueryClient, conversationId: string): () => void {
  let isStopped = false

  const refetchMessages = async (): Promise<void> => {
    await refetchNewestMessages(queryClient, conversationId)
    if (!isStopped) replaceReplyByRow(queryClient, conversationId)
  }
  const reply = createReplyStream(queryClient, conversationId, refetchMessages)

  const receiveRow = (change: { new: unknown }): void => {
    const row = messageRow.safeParse(change.new)
    if (!row.success) return logFailure(refetchMessages())
    cacheMessages(queryClient, conversationId, [row.data])
    if (row.data.sender_role === SENDER_ROLES.assistant) receiveAnswer(conversationId, row.data.content)
    replaceReplyByRow(queryClient, conversationId)
  }

  const leaveMessages = joinChannel(
    (client) =>
      onChangesReady(client.channel(`messages:${conversationId}`), () => logFailure(refetchMessages()))
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
    () => logFailure(refetchMessages()),
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
    () => logFailure(reply.catchUp()),
  )

  return () => {
    isStopped = true
    reply.stop()
    leaveMessages()
    leaveReply()
    setReply(conversationId, null)
  }
}
