import type { QueryClient } from '@tanstack/react-query'
import type { ChangesSince } from '#contract/changes.ts'
import { conversationRow } from '#contract/conversation.ts'
import {
  cacheConversation,
  refetchConversationLists,
  refetchConversations,
  removeCachedConversation,
} from '#web/data/conversations.ts'
import { applyDocumentChange, removeCachedDocuments } from '#web/data/documents/document-cache.ts'
import { isReadingDocuments } from '#web/data/documents/document-counts.ts'
import { documentsKey } from '#web/data/documents/document-queries.ts'
import { addFollower, followNetwork } from '#web/data/live/connection.ts'
import { joinChannel } from '#web/data/live/join-channel.ts'
import { logFailure } from '#web/data/live/log-failure.ts'
import { forgetMoment, readMissedChanges } from '#web/data/live/missed-changes.ts'
import { refetchModels } from '#web/data/models.ts'
import { refetch, refetchUnreached } from '#web/data/refetch.ts'

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
  const catchUp = async (): Promise<void> => {
    await Promise.all([
      refetchConversations(queryClient),
      refetch(queryClient, { queryKey: documentsKey }),
      refetchModels(queryClient),
    ])
  }
  const apply = async (missed: ChangesSince | null, isNews: (row: { id: string }) => boolean): Promise<void> => {
    if (missed === null) return catchUp()
    for (const row of missed.conversations.filter(isNews)) cacheConversation(queryClient, row)
    for (const id of missed.deleted_conversations) removeCachedConversation(queryClient, userId, id)
    for (const row of missed.documents.filter(isNews))
      applyDocumentChange(queryClient, { eventType: 'UPDATE', new: row, old: null })
    if (missed.deleted_documents.length > 0) removeCachedDocuments(queryClient, missed.deleted_documents)
    if (missed.have_models_changed) await refetchModels(queryClient)
  }
  /** Changes between the first reads and now; later ones come by the channel. */
  const applyMissed = async (): Promise<void> => {
    const missed = await readMissedChanges().catch((error: unknown) => {
      console.error(error)
      return null
    })
    isAsking = false
    if (!hasLeft) await apply(missed, ({ id }) => !changedSince.has(id))
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
  const onChangesReady = (): void => {
    logFailure(isFirst ? applyMissed() : catchUp())
    isFirst = false
    logFailure(refetchUnreached(queryClient))
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
      client
        .channel(`conversations:${userId}`)
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
          { event: '*', schema: 'public', table: 'documents', filter: `library=eq.${userId}` },
          (change) => {
            noteChange(change)
            applyDocumentChange(queryClient, change)
          },
        )
        .on('postgres_changes', { event: '*', schema: 'public', table: 'models' }, refetchModelsSoon),
    {
      onChangesReady,
      onJoined: () => {
        joins += 1
        if (joins > 1) logFailure(catchUp())
      },
    },
  )
  const stopPolling = addFollower({
    isExpecting: () => isReadingDocuments(queryClient),
    apply: (missed) => apply(missed, () => true),
  })
  const stopFollowingNetwork = followNetwork()
  return () => {
    clearTimeout(modelsTimer)
    stopPolling()
    stopFollowingNetwork()
    hasLeft = true
    forgetMoment()
    leave()
  }
}
