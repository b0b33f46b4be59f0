/** Conversations with an answer that the person has not read on any device. */
import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { keepaliveRest, rest } from '#web/data/client.ts'
import { createLiveQuery } from '#web/data/live-query.ts'
import { logFailure } from '#web/data/live/log-failure.ts'
import { readRest } from '#web/data/read-rest.ts'
import { unreadKey } from './unread-key.ts'

/** The newest answer of a conversation, by its position. */
export const unreadConversation = z.object({
  conversation_id: z.uuid(),
  space_id: z.uuid().nullable(),
  position: z.int(),
})
export type UnreadConversation = z.infer<typeof unreadConversation>

/** The server names as many of each space. */
export const MOST_UNREAD = 100

const liveUnread = createLiveQuery<readonly UnreadConversation[]>()

export const unreadQuery = queryOptions({
  queryKey: unreadKey,
  queryFn: () =>
    liveUnread.read(unreadKey, () => readRest(z.array(unreadConversation), rest().rpc('unread_conversations'))),
})

/** Positions up to which this page knows conversations to be read: news of an answer may come later than its mark. */
const readPositions = new WeakMap<QueryClient, Map<string, number>>()

function readPositionsOf(queryClient: QueryClient): Map<string, number> {
  const known = readPositions.get(queryClient) ?? new Map<string, number>()
  readPositions.set(queryClient, known)
  return known
}

export function noteAnswer(queryClient: QueryClient, answer: UnreadConversation): void {
  const { conversation_id: id, position } = answer
  if ((readPositionsOf(queryClient).get(id) ?? 0) >= position) return
  liveUnread.change(queryClient, unreadKey, (rows) => [answer, ...rows.filter((row) => row.conversation_id !== id)])
}

export function noteRead(queryClient: QueryClient, conversationId: string, position: number): void {
  const known = readPositionsOf(queryClient)
  known.set(conversationId, Math.max(position, known.get(conversationId) ?? 0))
  liveUnread.change(queryClient, unreadKey, (rows) =>
    rows.filter((row) => row.conversation_id !== conversationId || row.position > position),
  )
}

export function forgetUnread(queryClient: QueryClient, conversationId: string): void {
  liveUnread.change(queryClient, unreadKey, (rows) => rows.filter((row) => row.conversation_id !== conversationId))
}

/** Marks a conversation as read up to a position, for all devices of the person. */
export function markRead(queryClient: QueryClient, conversationId: string, position: number): void {
  noteRead(queryClient, conversationId, position)
  logFailure(
    readRest(z.unknown(), keepaliveRest().rpc('read_conversation', { conversation: conversationId, up_to: position })),
  )
}
