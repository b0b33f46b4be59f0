import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { messageRow, type MessageRow } from '#contract/message.ts'
import { replyInProgress, type ReplyInProgress, type ReplyPart } from '#contract/reply-events.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import {
  mergeIntoThread,
  mergeMessages,
  mergeNewest,
  type Thread,
  type ThreadMessage,
} from '#web/lib/messages/merge-messages.ts'
import { serverTime } from './auth/session.ts'
import { apiFetch, apiSend, readJson, restWithApiFallback, rest } from './client.ts'
import { otherTimeZone } from './config.ts'
import { createLiveQuery } from './live-query.ts'

const PAGE_SIZE = 60
const LARGE_PAGE_SIZE = 500
const rows = z.array(messageRow)

export const messagesKey = (conversationId: string) => [`/api/conversations/${conversationId}/messages`] as const
const liveThread = createLiveQuery<Thread>()

/** One page, newest first; the product API answers with all messages. */
function fetchPage(conversationId: string, before: number | null, limit = PAGE_SIZE): Promise<Thread> {
  return liveThread.read(messagesKey(conversationId), async () => {
    const page = await restWithApiFallback(
      rows,
      () => {
        const select = rest().from('messages').select('*').eq('conversation_id', conversationId)
        const earlier = before === null ? select : select.lt('position', before)
        return earlier.order('position', { ascending: false }).limit(limit)
      },
      async (signal) => (await apiFetch(`/api/conversations/${conversationId}/messages`, { signal })).json(),
    )
    return { messages: page.toSorted((a, b) => a.position - b.position), hasEarlier: page.length === limit }
  })
}

export function messagesQuery(conversationId: string) {
  return queryOptions({
    queryKey: messagesKey(conversationId),
    queryFn: () => fetchPage(conversationId, null),
    // Structural sharing compares by index: prepended messages would give every row a new identity.
    structuralSharing: false,
  })
}

export function messageQuery(conversationId: string, id: string) {
  return queryOptions({
    queryKey: [...messagesKey(conversationId), id] as const,
    queryFn: () =>
      restWithApiFallback(
        messageRow.nullable(),
        () => rest().from('messages').select('*').eq('conversation_id', conversationId).eq('id', id).maybeSingle(),
        async (signal) => {
          const answer = await apiFetch(`/api/conversations/${conversationId}/messages`, { signal })
          const all = rows.parse(await answer.json())
          return all.find((message) => message.id === id) ?? null
        },
      ),
  })
}

export function updateCachedMessages(
  queryClient: QueryClient,
  conversationId: string,
  change: (messages: ThreadMessage[]) => ThreadMessage[],
): void {
  liveThread.change(queryClient, messagesKey(conversationId), (thread) => ({
    ...thread,
    messages: change(thread.messages),
  }))
}

export function cacheMessages(queryClient: QueryClient, conversationId: string, incoming: ThreadMessage[]): void {
  liveThread.change(queryClient, messagesKey(conversationId), (thread) => mergeIntoThread(thread, incoming))
}

export async function loadEarlierMessages(
  queryClient: QueryClient,
  conversationId: string,
  limit = PAGE_SIZE,
): Promise<void> {
  const thread = queryClient.getQueryData<Thread>(messagesKey(conversationId))
  const oldest = thread?.messages[0]
  if (oldest === undefined) return
  const earlier = await fetchPage(conversationId, oldest.position, limit)
  queryClient.setQueryData<Thread>(messagesKey(conversationId), (now) =>
    now === undefined
      ? now
      : { messages: mergeMessages(now.messages, earlier.messages), hasEarlier: earlier.hasEarlier },
  )
}

export async function loadMessagesBackTo(
  queryClient: QueryClient,
  conversationId: string,
  position: number,
): Promise<void> {
  const isMissing = (): boolean => {
    const thread = queryClient.getQueryData<Thread>(messagesKey(conversationId))
    return thread?.hasEarlier === true && (thread.messages[0]?.position ?? 0) > position
  }
  while (isMissing()) await loadEarlierMessages(queryClient, conversationId, LARGE_PAGE_SIZE)
}

/** Keeps loaded older pages and unsent messages. Runs after every rejoin, and after live changes may be missed. */
export async function refetchNewestMessages(queryClient: QueryClient, conversationId: string): Promise<void> {
  const { data, fetchStatus } = queryClient.getQueryState<Thread>(messagesKey(conversationId)) ?? {}
  if (data === undefined && fetchStatus !== 'fetching') return
  // A first page that is being read may be older than the live changes.
  if (data === undefined) await queryClient.query({ ...messagesQuery(conversationId), staleTime: 'static' })
  const newest = await fetchPage(conversationId, null)
  queryClient.setQueryData<Thread>(messagesKey(conversationId), (thread) => thread && mergeNewest(thread, newest))
}

/** Stores a question. The client chooses the id, so that a repeated request asks once. */
export function addMessage(
  conversationId: string,
  id: string,
  { content, metadata }: { content: string; metadata: MessageRow['metadata'] },
): Promise<MessageRow> {
  const timeZone = otherTimeZone()
  const given = metadata === null && timeZone === undefined ? {} : { metadata: { ...metadata, timeZone } }
  return restWithApiFallback(
    messageRow,
    () =>
      rest()
        .from('messages')
        .insert({
          id,
          conversation_id: conversationId,
          content,
          sender_role: SENDER_ROLES.user,
          token_in: null,
          token_out: null,
          created_at: serverTime(),
          ...given,
        })
        .select()
        .single(),
    (signal) => {
      const row = { id, content, senderRole: SENDER_ROLES.user, tokenIn: null, tokenOut: null, ...given }
      return readJson(apiSend('POST', `/api/conversations/${conversationId}/messages`, row, signal))
    },
  )
}

/** @param known the last part that is known: of its attempt only later parts are fetched */
export async function fetchReplyInProgress(
  conversationId: string,
  known?: Pick<ReplyPart, 'replyId' | 'attempt' | 'seq'>,
  signal?: AbortSignal,
): Promise<ReplyInProgress | null> {
  const query = known === undefined ? '' : `?replyId=${known.replyId}&attempt=${known.attempt}&seq=${known.seq}`
  const response = await apiFetch(`/api/conversations/${conversationId}/reply${query}`, { signal: signal ?? null })
  return response.status === 204 ? null : replyInProgress.parse(await response.json())
}

export async function retryReply(conversationId: string): Promise<void> {
  await apiFetch(`/api/conversations/${conversationId}/retry`, { method: 'POST' })
}

export async function stopReply(conversationId: string): Promise<void> {
  await apiFetch(`/api/conversations/${conversationId}/stop`, { method: 'POST' })
}
