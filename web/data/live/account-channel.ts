import type { QueryClient } from '@tanstack/react-query'
import { conversationRow } from '#contract/conversation.ts'
import {
  cacheConversation,
  refetchConversationLists,
  refetchConversations,
  removeCachedConversation,
} from '#web/data/conversations.ts'
import { applyDocumentChange, removeCachedDocuments } from '#web/data/documents/document-cache.ts'
import { documentsKey } from '#web/data/documents/document-queries.ts'
import { refetchModels } from '#web/data/models.ts'
import { refetch } from '#web/data/refetch.ts'
import { followNetwork, setChannelJoined } from './connection.ts'
import { joinChannel, onChangesReady } from './join-channel.ts'
import { logFailure } from './log-failure.ts'
import { forgetMoment, readMissedChanges } from './missed-changes.ts'

type RowChange = { eventType: 'INSERT' | 'UPDATE' | 'DELETE'; new: unknown; old: unknown }

const changedRow = conversationRow.pick({ id: true })

/** One update of an endpoint may change hundreds of model rows; they cause one refetch. */
const MODELS_REFETCH_DELAY_MS = 100

function applyConversationChange(queryClient: QueryClient, userId: string, change: RowChange): void {
  if (change.eventType === 'DELETE') {
    const deleted = changedRow.safeParse(change.old)
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
  /** Changes between the first reads and now; later ones come by the channel. */
  const applyMissed = async (): Promise<void> => {
    const missed = await readMissedChanges().catch((error: unknown) => {
      console.error(error)
      return null
    })
    isAsking = false
    if (hasLeft) return
    if (missed === null) return catchUp()
    const isNews = ({ id }: { id: string }) => !changedSince.has(id)
    for (const row of missed.conversations.filter(isNews)) cacheConversation(queryClient, row)
    for (const id of missed.deleted_conversations) removeCachedConversation(queryClient, userId, id)
    for (const row of missed.documents.filter(isNews))
      applyDocumentChange(queryClient, { eventType: 'UPDATE', new: row, old: null })
    if (missed.deleted_documents.length > 0) removeCachedDocuments(queryClient, missed.deleted_documents)
    if (missed.have_models_changed) logFailure(refetchModels(queryClient))
  }
  /** Rows that the channel delivered since it was joined; what was asked for then may be older. */
  const changedSince = new Set<string>()
  const noteChange = ({ new: written, old }: RowChange): void => {
    const row = changedRow.safeParse(written).data ?? changedRow.safeParse(old).data
    if (isAsking && row) changedSince.add(row.id)
  }
  let isAsking = true
  let hasLeft = false
  let isFirst = true
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
        if (isFirst) logFailure(applyMissed())
        else catchUp()
        isFirst = false
      })
        .on(
          'postgres_changes',
          { event: '*', schema: 'public', table: 'conversations', filter: `uid=eq.${userId}` },
          (change) => {
            noteChange(change)
            applyConversationChange(queryClient, userId, change)
          },
        )
        .on(
          'postgres_changes',
          { event: '*', schema: 'public', table: 'documents', filter: `owner=eq.${userId}` },
          (change) => {
            noteChange(change)
            applyDocumentChange(queryClient, change)
          },
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
    hasLeft = true
    forgetMoment()
    leave()
  }
}
