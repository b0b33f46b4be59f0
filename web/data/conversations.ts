import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { conversationRow, type ConversationPatch, type ConversationRow } from '#contract/conversation.ts'
import { DEFAULT_TITLES } from '#contract/limits.ts'
import { apiFetch, apiSend, directThenApi, HttpError, jsonOf, rest } from './client.ts'
import { storeDraft } from './drafts.ts'
import { createLiveQuery } from './live-query.ts'
import { forgetRecordings } from './recordings.ts'
import { readAgain } from './refetch.ts'

const rows = z.array(conversationRow)

export const conversationsKey = (userId: string) => [`/api/users/${userId}/conversations`] as const
const conversationList = createLiveQuery<ConversationRow[]>()
export const conversationKey = (id: string) => [`/api/conversations/${id}`] as const
const oneConversation = createLiveQuery<ConversationRow | null>()

/** All conversations of a person, newest first. */
export function conversationsQuery(userId: string) {
  return queryOptions({
    queryKey: conversationsKey(userId),
    queryFn: () =>
      conversationList.read(conversationsKey(userId), () =>
        directThenApi(
          rows,
          () => rest().from('conversations').select('*').eq('uid', userId).order('started_at', { ascending: false }),
          () => jsonOf(apiFetch(`/api/users/${userId}/conversations`)),
        ),
      ),
  })
}

/** One conversation; null when it does not exist or belongs to somebody else. */
export function conversationQuery(id: string) {
  return queryOptions({
    queryKey: conversationKey(id),
    queryFn: () => oneConversation.read(conversationKey(id), () => readConversation(id)),
  })
}

function readConversation(id: string): Promise<ConversationRow | null> {
  return directThenApi(
    conversationRow.nullable(),
    () => rest().from('conversations').select('*').eq('id', id).maybeSingle(),
    async () => {
      try {
        return await jsonOf(apiFetch(`/api/conversations/${id}`))
      } catch (error) {
        if (error instanceof HttpError && error.status === 404) return null
        throw error
      }
    },
  )
}

/**
 * Creates a conversation under an id made here, so that a direct call that timed out after it was carried out and its
 * fallback end in one and the same row.
 */
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
  return directThenApi(
    conversationRow,
    () => rest().from('conversations').insert(row).select().single(),
    async () => {
      try {
        return await jsonOf(apiSend('POST', '/api/conversations', row))
      } catch (error) {
        if (error instanceof HttpError && error.status === 409) return readConversation(row.id)
        throw error
      }
    },
  )
}

export function updateConversation(id: string, userId: string, patch: ConversationPatch): Promise<ConversationRow> {
  return directThenApi(
    conversationRow,
    () => rest().from('conversations').update(patch).eq('id', id).eq('uid', userId).select().single(),
    () => jsonOf(apiSend('PATCH', `/api/conversations/${id}`, patch)),
  )
}

export async function deleteConversation(id: string): Promise<void> {
  await directThenApi(
    z.unknown(),
    () => rest().from('conversations').delete().eq('id', id),
    async () => {
      await apiFetch(`/api/conversations/${id}`, { method: 'DELETE' })
      return null
    },
  )
}

/** Puts a row that was created or changed into every list that shows it. */
export function keepConversation(queryClient: QueryClient, userId: string, row: ConversationRow): void {
  oneConversation.set(queryClient, conversationKey(row.id), row)
  conversationList.change(queryClient, conversationsKey(userId), (list) => {
    const others = list.filter((other) => other.id !== row.id)
    return [...others, row].toSorted((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at))
  })
}

/** Reads again what is shown of conversations, when live changes may have been missed: the list, and those that are open. */
export async function reloadConversations(queryClient: QueryClient, userId: string): Promise<void> {
  const [list] = conversationsKey(userId)
  const [one] = conversationKey('')
  await readAgain(queryClient, {
    predicate: ({ queryKey: [key] }) =>
      key === list || (typeof key === 'string' && key.startsWith(one) && !key.slice(one.length).includes('/')),
  })
}

/** Takes a deleted conversation out of every list that shows it. */
export function dropConversation(queryClient: QueryClient, userId: string, id: string): void {
  conversationList.change(queryClient, conversationsKey(userId), (list) => list.filter((row) => row.id !== id))
  storeDraft(userId, id, '')
  forgetRecordings(userId, id)
  // Null, as for any conversation that does not exist: whoever has it open leaves it.
  oneConversation.set(queryClient, conversationKey(id), null)
}
