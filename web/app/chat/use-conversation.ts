import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import { useUser } from '#web/data/auth-context.tsx'
import { conversationQuery, conversationsKey } from '#web/data/conversations.ts'
import { followConversation } from '#web/data/live.ts'
import { loadEarlier, messagesQuery, type Thread } from '#web/data/messages.ts'
import { modelsQuery, selectModel } from '#web/data/models.ts'
import { setExternalConversation, useThreadStore } from '#web/data/thread-store.ts'
import type { ReplyView } from '#web/lib/reply-parts.ts'
import { isWaiting, visibleMessages } from '#web/lib/waiting.ts'

export type OpenConversation = {
  conversation: ConversationRow | null | undefined
  thread: { messages: Thread['messages']; hasEarlier: boolean } | null
  failed: boolean
  waiting: boolean
  reply: ReplyView | null
  reload: () => void
  loadEarlier: (() => void) | null
}

const NO_MESSAGES: Thread['messages'] = []

/** The id that an outside service knows a conversation by, else its own. */
const externalIdOf = (conversation: ConversationRow): string => {
  const external = conversation.metadata?.['conversation_id']
  return typeof external === 'string' ? external : conversation.id
}

/** Everything about the conversation that is open, kept up to date by live changes while it is. */
export function useConversation(id: string): OpenConversation {
  const queryClient = useQueryClient()
  const user = useUser()
  const conversation = useQuery({
    ...conversationQuery(id),
    placeholderData: () =>
      queryClient.getQueryData<ConversationRow[]>(conversationsKey(user.id))?.find((known) => known.id === id),
  })
  const messages = useQuery(messagesQuery(id))
  const models = useQuery(modelsQuery)
  const reply = useThreadStore((state) => state.replies[id]) ?? null
  const awaiting = useThreadStore((state) => state.awaiting[id])
  const loading = useRef(false)

  useEffect(() => followConversation(queryClient, id), [queryClient, id])

  const row = conversation.data
  useEffect(() => {
    if (row) setExternalConversation(externalIdOf(row))
    else if (conversation.isError) setExternalConversation(null)
  }, [row, conversation.isError])

  // The picker shows the model of the conversation that is opened, so that going on does not change it unseen.
  const modelName = row?.model_name
  useEffect(() => {
    const model = models.data?.find((known) => known.model_identifier === modelName)
    if (model !== undefined) selectModel(model)
  }, [id, modelName, models.data])

  const loadMore = useCallback(() => {
    if (loading.current) return
    loading.current = true
    loadEarlier(queryClient, id)
      .catch((error: unknown) => console.error(error))
      .finally(() => {
        loading.current = false
      })
  }, [queryClient, id])

  const known = messages.data?.messages ?? NO_MESSAGES
  return {
    conversation: row,
    thread:
      messages.data === undefined
        ? null
        : { messages: [...visibleMessages(known, awaiting)], hasEarlier: messages.data.hasEarlier },
    failed: messages.isError,
    waiting: isWaiting(known, awaiting),
    reply,
    reload: () => void messages.refetch(),
    loadEarlier: messages.data?.hasEarlier === true ? loadMore : null,
  }
}
