import { notifyManager, type QueryClient } from '@tanstack/react-query'
import type { MessageRow } from '#contract/message.ts'
import { messagesKey } from '#web/data/messages.ts'
import { setReply, useThreadStore } from '#web/data/thread-store.ts'
import { isWaiting } from '#web/lib/messages/awaited-reply.ts'
import type { Thread, ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { isReplyStored } from '#web/lib/messages/overlay-reply.ts'
import type { ReplyView } from '#web/lib/messages/reply-parts.ts'

export const cachedMessages = (queryClient: QueryClient, conversationId: string): readonly ThreadMessage[] =>
  queryClient.getQueryData<Thread>(messagesKey(conversationId))?.messages ?? []

export const isReplyAwaited = (queryClient: QueryClient, conversationId: string): boolean =>
  isWaiting(cachedMessages(queryClient, conversationId), useThreadStore.getState().awaiting[conversationId])

/** Whether the row is in the thread exactly as it is. */
export const isMessageCached = (queryClient: QueryClient, row: MessageRow): boolean =>
  cachedMessages(queryClient, row.conversation_id).some(
    (message) => message.id === row.id && JSON.stringify(message) === JSON.stringify(row),
  )

export const isReplyCached = (queryClient: QueryClient, conversationId: string, reply: ReplyView): boolean =>
  cachedMessages(queryClient, conversationId).some((message) => isReplyStored(message, reply))

/** Removes the streamed reply once its row is in the thread. Returns false while the row is missing. */
export function replaceReplyByRow(queryClient: QueryClient, conversationId: string): boolean {
  const reply = useThreadStore.getState().replies[conversationId]
  if (reply === undefined) return true
  const isCached = isReplyCached(queryClient, conversationId, reply)
  // Scheduled after the thread's own notification: removing it earlier would show neither for a moment.
  if (isCached)
    notifyManager.schedule(() => {
      if (useThreadStore.getState().replies[conversationId] === reply) setReply(conversationId, null)
    })
  return isCached
}
