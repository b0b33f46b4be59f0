import type { QueryClient } from '@tanstack/react-query'
import { conversationRow } from '#contract/conversation.ts'
import {
  cacheConversation,
  refetchConversationLists,
  refetchConversations,
  removeCachedConversation,
} from '#web/data/conversations.ts'
import { applyDocumentChange } from '#web/data/documents/document-cache.ts'
import { documentsKey } from '#web/data/documents/document-queries.ts'
import { refetchModels } from '#web/data/models.ts'
import { refetch } from '#web/data/refetch.ts'
import { forgetChangesReady, markChangesReady } from './changes-ready.ts'
import { followNetwork, setChannelJoined } from './connection.ts'
import { joinChannel, onChangesReady } from './join-channel.ts'
import { logFailure } from './log-failure.ts'

type RowChange = { eventType: 'INSERT' | 'UPDATE' | 'DELETE'; new: unknown; old: unknown }

/** One update of an endpoint may change hundreds of model rows; they cause one refetch. */
const MODELS_REFETCH_DELAY_MS = 100

function applyConversationChange(queryClient: QueryClient, userId: string, change: RowChange): void {
  if (change.eventType === 'DELETE') {
    const deleted = conversationRow.pick({ id: true }).safeParse(change.old)
    if (deleted.success) removeCachedConversation(queryClient, userId, deleted.data.id)
    return
  }
  const row = conversationRow.safeParse(change.new)
  if (row.success) cacheConversation(queryClient, row.data)
  else logFailure(refetchConversationLists(queryClient))
}

/** Follows a person's conversations and documents, and the list of models. Returns the function that stops. */
export function followAccount(queryClient: QueryClient, userId: string): () => void {
  const catchUp = (): void => {
    logFailure(refetchConversations(queryClient))
    logFailure(refetch(queryClient, { queryKey: documentsKey }))
    logFailure(refetchModels(queryClient))
  }
  let modelsTimer: ReturnType<typeof setTimeout> | undefined
  const refetchModelsSoon = (): void => {
    modelsTimer ??= setTimeout(() => {
      modelsTimer = undefined
      logFailure(refetchModels(queryClient))
    }, MODELS_REFETCH_DELAY_MS)
  }
  let joins = 0
  const leave = joinChannel(
    (client) =>
      onChangesReady(client.channel(`conversations:${userId}`), () => {
        markChangesReady()
        catchUp()
      })
        .on(
          'postgres_changes',
          { event: '*', schema: 'public', table: 'conversations', filter: `uid=eq.${userId}` },
          (change) => applyConversationChange(queryClient, userId, change),
        )
        .on(
          'postgres_changes',
          { event: '*', schema: 'public', table: 'documents', filter: `owner=eq.${userId}` },
          (change) => applyDocumentChange(queryClient, change),
        )
        .on('postgres_changes', { event: '*', schema: 'public', table: 'models' }, refetchModelsSoon),
    () => {
      setChannelJoined(true)
      joins += 1
      if (joins > 1) catchUp()
    },
    () => setChannelJoined(false),
  )
  const stopFollowingNetwork = followNetwork()
  return () => {
    clearTimeout(modelsTimer)
    stopFollowingNetwork()
    forgetChangesReady()
    leave()
  }
}
