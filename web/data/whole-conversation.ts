import type { QueryClient } from '@tanstack/react-query'
import type { ConversationRow } from '#contract/conversation.ts'
import type { Thread, ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { conversationQuery } from './conversations.ts'
import { loadMessagesBackTo, messagesKey, messagesQuery } from './messages.ts'

export type WholeConversation = { conversation: ConversationRow | null; messages: readonly ThreadMessage[] }

/** Loads a conversation with all its messages into the cache. */
export async function loadWholeConversation(id: string, queryClient: QueryClient): Promise<WholeConversation> {
  const [conversation] = await Promise.all([
    queryClient.query({ ...conversationQuery(id), staleTime: 'static' }),
    queryClient.query({ ...messagesQuery(id), staleTime: 'static' }),
  ])
  await loadMessagesBackTo(queryClient, id, Number.MIN_SAFE_INTEGER)
  return { conversation, messages: queryClient.getQueryData<Thread>(messagesKey(id))?.messages ?? [] }
}
