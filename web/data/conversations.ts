import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { conversationRow, type ConversationPatch, type ConversationRow } from '#contract/conversation.ts'
import { DEFAULT_TITLES } from '#contract/product-names.ts'
import { apiFetch, apiSend, HttpError, nullIfNotFound, readJson, rest, restWithApiFallback } from './client.ts'
import { storeDraft } from './drafts.ts'
import { createLiveQuery } from './live-query.ts'
import { deleteRecordings } from './recordings.ts'
import { refetch } from './refetch.ts'

const rows = z.array(conversationRow)

export const conversationsKey = (userId: string) => [`/api/users/${userId}/conversations`] as const
const liveConversations = createLiveQuery<ConversationRow[]>()
export const conversationKey = (id: string) => [`/api/conversations/${id}`] as const
const liveConversation = createLiveQuery<ConversationRow | null>()

export function conversationsQuery(userId: string) {
  return queryOptions({
    queryKey: conversationsKey(userId),
    queryFn: () =>
      liveConversations.read(conversationsKey(userId), () =>
        restWithApiFallback(
          rows,
          () => rest().from('conversations').select('*').eq('uid', userId).order('started_at', { ascending: false }),
          () => readJson(apiFetch(`/api/users/${userId}/conversations`)),
        ),
      ),
  })
}

/** One conversation; null if it does not exist or belongs to another person. */
export function conversationQuery(id: string) {
  return queryOptions({
    queryKey: conversationKey(id),
    queryFn: () => liveConversation.read(conversationKey(id), () => fetchConversation(id)),
  })
}

function fetchConversation(id: string): Promise<ConversationRow | null> {
  return restWithApiFallback(
    conversationRow.nullable(),
    () => rest().from('conversations').select('*').eq('id', id).maybeSingle(),
    () => nullIfNotFound(() => readJson(apiFetch(`/api/conversations/${id}`))),
  )
}

/** The client chooses the id: after a timeout of the direct call, the fallback addresses the same row. */
export function createConversation(given: {
  userId: string
  modelName: string
  title?: string
  metadata?: Record<string, unknown>
}): Promise<ConversationRow> {
  const row = {
    id: crypto.randomUUID(),
    uid: given.userId,
    title: given.title ?? DEFAULT_TITLES.created,
    model_name: given.modelName,
    started_at: new Date().toISOString(),
    ended_at: null,
    metadata: given.metadata ?? {},
  }
  return restWithApiFallback(
    conversationRow,
    () => rest().from('conversations').insert(row).select().single(),
    async () => {
      try {
        return await readJson(apiSend('POST', '/api/conversations', row))
      } catch (error) {
        if (error instanceof HttpError && error.status === 409) return fetchConversation(row.id)
        throw error
      }
    },
  )
}

export function updateConversation(id: string, userId: string, patch: ConversationPatch): Promise<ConversationRow> {
  return restWithApiFallback(
    conversationRow,
    () => rest().from('conversations').update(patch).eq('id', id).eq('uid', userId).select().single(),
    () => readJson(apiSend('PATCH', `/api/conversations/${id}`, patch)),
  )
}

export async function deleteConversation(id: string): Promise<void> {
  await restWithApiFallback(
    z.unknown(),
    () => rest().from('conversations').delete().eq('id', id),
    async () => {
      await apiFetch(`/api/conversations/${id}`, { method: 'DELETE' })
      return null
    },
  )
}

export function cacheConversation(queryClient: QueryClient, userId: string, row: ConversationRow): void {
  liveConversation.set(queryClient, conversationKey(row.id), row)
  liveConversations.change(queryClient, conversationsKey(userId), (list) => {
    const others = list.filter((other) => other.id !== row.id)
    return [...others, row].toSorted((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at))
  })
}

/** Refetches the list and the open conversations, after live changes may have been missed. */
export async function refetchConversations(queryClient: QueryClient, userId: string): Promise<void> {
  const [list] = conversationsKey(userId)
  const [one] = conversationKey('')
  await refetch(queryClient, {
    predicate: ({ queryKey: [key] }) =>
      key === list || (typeof key === 'string' && key.startsWith(one) && !key.slice(one.length).includes('/')),
  })
}

export function removeCachedConversation(queryClient: QueryClient, userId: string, id: string): void {
  liveConversations.change(queryClient, conversationsKey(userId), (list) => list.filter((row) => row.id !== id))
  storeDraft(userId, id, '')
  deleteRecordings(userId, id)
  // Null, as for an unknown conversation: the chat page then leaves it.
  liveConversation.set(queryClient, conversationKey(id), null)
}
