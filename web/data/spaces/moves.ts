/** Moves and copies of conversations and documents between spaces, and the end of sharing. */
import type { QueryClient } from '@tanstack/react-query'
import { conversationRow } from '#contract/conversation.ts'
import { documentRow } from '#contract/document.ts'
import { apiFetch, apiSend } from '#web/data/client.ts'
import { cacheConversation, leaveConversation, refetchConversationLists } from '#web/data/conversations.ts'
import type { Space } from '#web/data/current-space.ts'
import { applyDocumentChange, cacheDocuments } from '#web/data/documents/document-cache.ts'

/** A row goes to the chosen place, or a copy of it does. */
export type Transfer = 'move' | 'copy'

export async function transferConversation(
  queryClient: QueryClient,
  { transfer, id, space }: { transfer: Transfer; id: string; space: Space },
): Promise<void> {
  const answer = await apiSend('POST', `/api/conversations/${id}/${transfer}`, { space })
  cacheConversation(queryClient, conversationRow.parse(await answer.json()))
}

/** Ends the sharing of another's conversation, which the owner of the space may not read afterwards. */
export async function unshareConversation(queryClient: QueryClient, id: string, onEnded: () => void): Promise<void> {
  await apiFetch(`/api/conversations/${id}/unshare`, { method: 'POST' })
  onEnded()
  leaveConversation(queryClient, id)
  void refetchConversationLists(queryClient)
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
