/** Moves and copies of conversations and documents between spaces, and the end of sharing. */
import type { QueryClient } from '@tanstack/react-query'
import { conversationRow } from '#contract/conversation.ts'
import { documentRow } from '#contract/document.ts'
import { apiFetch, apiSend } from '#web/data/client.ts'
import { cacheConversation, leaveConversation, refetchConversationLists } from '#web/data/conversations.ts'
import { applyDocumentChange, cacheDocuments } from '#web/data/documents/document-cache.ts'
import type { Space } from './current-space.ts'

/** A row goes to the chosen place, or a copy of it does. */
export type Transfer = 'move' | 'copy'

export async function transferConversation(
  queryClient: QueryClient,
  { transfer, id, space }: { transfer: Transfer; id: string; space: Space },
): Promise<void> {
  const answer = await apiSend('POST', `/api/conversations/${id}/${transfer}`, { space })
  cacheConversation(queryClient, conversationRow.parse(await answer.json()))
}

/** For owners of its space, who may not read it afterwards: only its author sees it then. */
export async function unshareConversation(queryClient: QueryClient, id: string): Promise<void> {
  await apiFetch(`/api/conversations/${id}/unshare`, { method: 'POST' })
  leaveConversation(queryClient, id)
  await refetchConversationLists(queryClient)
}

export async function transferDocument(
  queryClient: QueryClient,
  { transfer, id, space }: { transfer: Transfer; id: string; space: Space },
): Promise<void> {
  const answer = await apiSend('POST', `/api/documents/${id}/${transfer}`, { space })
  const row = documentRow.parse(await answer.json())
  if (transfer === 'copy') cacheDocuments(queryClient, [row])
  else applyDocumentChange(queryClient, { eventType: 'UPDATE', new: row, old: { id } })
}
