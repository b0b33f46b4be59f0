/** Read-only links to one conversation. */
import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import {
  createdLink,
  listedLink,
  sharedConversation,
  type CreatedLink,
  type SharedConversation,
} from '#contract/space.ts'
import { apiFetch, apiJson, apiSend } from '#web/data/client.ts'
import { refetch } from '#web/data/refetch.ts'

const linksKey = (conversationId: string) => [`/api/conversations/${conversationId}/links`] as const

export const linksQuery = (conversationId: string) =>
  queryOptions({
    queryKey: linksKey(conversationId),
    queryFn: () => apiJson(linksKey(conversationId)[0], z.array(listedLink)),
    staleTime: 0,
  })

/** The address is told only now: the server stores a hash of it. */
export async function makeLink(
  queryClient: QueryClient,
  conversationId: string,
  given: { days: number; anybody: boolean },
): Promise<CreatedLink> {
  const answer = await apiSend('POST', linksKey(conversationId)[0], given)
  await refetch(queryClient, { queryKey: linksKey(conversationId) })
  return createdLink.parse(await answer.json())
}

export async function revokeLink(queryClient: QueryClient, conversationId: string, id: string): Promise<void> {
  await apiFetch(`/api/links/${id}`, { method: 'DELETE' })
  await refetch(queryClient, { queryKey: linksKey(conversationId) })
}

/** A page would not draw more at once. */
const MOST_MESSAGES = 2_000

/**
 * Everything that a link shows.
 * @param reader the person who opens it; null while signed out
 * @throws HttpError 404 for one that has ended, 401 where a person must sign in
 */
export const linkedConversationQuery = (token: string, reader: string | null) =>
  queryOptions({
    queryKey: ['/api/links', token, reader] as const,
    queryFn: async ({ signal }): Promise<SharedConversation> => {
      const path = `/api/links/${encodeURIComponent(token)}`
      const first = await apiJson(path, sharedConversation, { signal })
      const messages = [...first.messages]
      for (let { next } = first; next !== null && messages.length < MOST_MESSAGES;) {
        const page = await apiJson(`${path}?after=${next}`, sharedConversation, { signal })
        messages.push(...page.messages)
        next = page.next
      }
      return { ...first, messages }
    },
  })
