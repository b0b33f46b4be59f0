import type { QueryClient } from '@tanstack/react-query'
import { conversationRow } from '#contract/conversation.ts'
import { documentRow } from '#contract/document.ts'
import { apiSend } from '#web/data/client.ts'
import { cacheConversation } from '#web/data/conversations.ts'
import { applyDocumentChange } from '#web/data/documents/document-cache.ts'
import type { Space } from './current-space.ts'

export async function moveConversation(queryClient: QueryClient, id: string, space: Space): Promise<void> {
  const answer = await apiSend('POST', `/api/conversations/${id}/move`, { space })
  cacheConversation(queryClient, conversationRow.parse(await answer.json()))
}

export async function moveDocument(queryClient: QueryClient, id: string, space: Space): Promise<void> {
  const answer = await apiSend('POST', `/api/documents/${id}/move`, { space })
  const row = documentRow.parse(await answer.json())
  applyDocumentChange(queryClient, { eventType: 'UPDATE', new: row, old: { id } })
}
