import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { followConversation } from '#web/data/channels/conversation-channel.ts'
import { conversationQuery, findListed } from '#web/data/conversations.ts'
import { useSpace } from '#web/data/current-space.ts'
import { loadMessagesBackTo, loadEarlierMessages, messagesKey, messagesQuery } from '#web/data/messages.ts'
import { modelsQuery } from '#web/data/models.ts'
import { selectConversationModel, showGivenModel, lockSelectedModel } from '#web/data/selected-model.ts'
import { clearTargetMessage, useTargetMessage } from '#web/data/target-message.ts'
import { setExternalConversation, useThreadStore } from '#web/data/thread-store.ts'
import { isWaiting, visibleMessages } from '#web/lib/messages/awaited-reply.ts'
import { hideRepeatedSummaries } from '#web/lib/messages/hide-repeated-summaries.ts'
import type { Thread, ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { overlayReply } from '#web/lib/messages/overlay-reply.ts'

export type OpenConversation = {
  conversation: ConversationRow | null | undefined
  thread: { messages: readonly ThreadMessage[]; hasEarlier: boolean } | null
  failed: boolean
  waiting: boolean
  reload: () => void
  loadEarlier: (() => void) | null
  /** The message to scroll to, once it is loaded. */
  targetId: string | null
}

const NO_MESSAGES: Thread['messages'] = []

/** The id that an external service uses for a conversation, else its own. */
const externalIdOf = (conversation: ConversationRow): string => {
  const external = conversation.metadata?.['conversation_id']
  return typeof external === 'string' ? external : conversation.id
}

export function useConversation(id: string): OpenConversation {
  const queryClient = useQueryClient()
  const user = useUser()
  const space = useSpace()
  const conversation = useQuery({
    ...conversationQuery(id),
    placeholderData: () => {
      const listed = findListed(queryClient, { userId: user.id, space }, id)
      return listed && { ...listed, ended_at: null, metadata: { branched_from: listed.branched_from } }
    },
  })
  const messages = useQuery(messagesQuery(id))
  const models = useQuery(modelsQuery)
  const awaiting = useThreadStore((state) => state.awaiting[id])
  const loading = useRef(false)

  useEffect(() => followConversation(queryClient, id), [queryClient, id])

  const row = conversation.data
  const isListed = conversation.isPlaceholderData
  useEffect(() => {
    if (row && !isListed) setExternalConversation(externalIdOf(row))
    else if (conversation.isError) setExternalConversation(null)
  }, [row, isListed, conversation.isError])

  // Selects the model of an opened conversation, so that a further question keeps it.
  const modelName = row?.model_name
  const followed = useRef<string | null>(null)
  useEffect(() => {
    const model = models.data?.find((known) => known.model_identifier === modelName)
    const opened = `${id} ${modelName ?? ''}`
    // Selects once per conversation: a refetch of the list must not undo the person's choice.
    if (model === undefined || followed.current === opened) return
    followed.current = opened
    selectConversationModel(model)
  }, [id, modelName, models.data])
  useEffect(lockSelectedModel, [])
  const givenModel = row && row.uid !== user.id ? row.model_name : null
  useEffect(() => showGivenModel(givenModel), [givenModel])

  const loadMore = useCallback(() => {
    if (loading.current) return
    loading.current = true
    loadEarlierMessages(queryClient, id)
      .catch((error: unknown) => console.error(error))
      .finally(() => {
        loading.current = false
      })
  }, [queryClient, id])

  const stored = messages.data?.messages ?? NO_MESSAGES
  const known = useMemo(() => hideRepeatedSummaries(stored), [stored])
  const target = useTargetMessage(({ target }) => (target?.conversationId === id ? target : null))
  const isAtHand = known.some((message) => message.id === target?.messageId)
  const isLoaded = messages.data !== undefined
  useEffect(() => {
    if (target === null || isAtHand || !isLoaded) return
    loadMessagesBackTo(queryClient, id, target.position)
      .then(() => {
        const thread = queryClient.getQueryData<Thread>(messagesKey(id))
        if (thread?.messages.some((message) => message.id === target.messageId) !== true)
          clearTargetMessage(target.messageId)
      })
      .catch((error: unknown) => {
        console.error(error)
        clearTargetMessage(target.messageId)
      })
  }, [queryClient, id, target, isAtHand, isLoaded])
  const visible = visibleMessages(known, awaiting)
  // Selects a boolean: the reply itself changes many times a second.
  const rewriting = useThreadStore(({ replies }) => overlayReply(visible, replies[id] ?? null).rewriting)
  return {
    conversation: row,
    thread: messages.data === undefined ? null : { messages: visible, hasEarlier: messages.data.hasEarlier },
    failed: messages.isError,
    waiting: isWaiting(known, awaiting) || rewriting,
    reload: () => void messages.refetch(),
    loadEarlier: messages.data?.hasEarlier === true ? loadMore : null,
    targetId: isAtHand ? (target?.messageId ?? null) : null,
  }
}
