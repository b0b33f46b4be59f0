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
import { apiFetch, apiJson, apiSend, rest } from '#web/data/client.ts'
import { readRest } from '#web/data/read-rest.ts'
import { refetch } from '#web/data/refetch.ts'

const linksKey = (conversationId: string) => [`/api/conversations/${conversationId}/links`] as const

export const linksQuery = (conversationId: string) =>
  queryOptions({
    queryKey: linksKey(conversationId),
    queryFn: () => apiJson(linksKey(conversationId)[0], z.array(listedLink)),
    staleTime: 0,
  })

const spaceLinksKey = ['space_links'] as const

const spaceLink = listedLink.extend({
  conversation_id: z.uuid(),
  conversations: z.object({ title: z.string().nullable() }),
})

const MOST_LINKS = 500

/** Open links to the conversations of a space, the newest first; to those that the person may link to. */
export const spaceLinksQuery = (space: string) =>
  queryOptions({
    queryKey: [...spaceLinksKey, space] as const,
    queryFn: () =>
      readRest(
        z.array(spaceLink),
        rest()
          .from('share_links')
          .select('id,conversation_id,created_by,for_anybody,created_at,expires_at,conversations!inner(title)')
          .eq('conversations.space_id', space)
          .gt('expires_at', new Date().toISOString())
          .order('created_at', { ascending: false })
          .limit(MOST_LINKS),
      ),
    // Links change with what happens to their conversations.
    staleTime: 0,
  })

async function refetchLinks(queryClient: QueryClient, conversationId: string): Promise<void> {
  await Promise.all([
    refetch(queryClient, { queryKey: linksKey(conversationId) }),
    refetch(queryClient, { queryKey: spaceLinksKey }),
  ])
}

/** The address is told only now: the server stores a hash of it. */
export async function makeLink(
  queryClient: QueryClient,
  conversationId: string,
  given: { days: number; anybody: boolean },
): Promise<CreatedLink> {
  const answer = await apiSend('POST', linksKey(conversationId)[0], given)
  await refetchLinks(queryClient, conversationId)
  return createdLink.parse(await answer.json())
}

export async function revokeLink(queryClient: QueryClient, conversationId: string, id: string): Promise<void> {
  await apiFetch(`/api/links/${id}`, { method: 'DELETE' })
  await refetchLinks(queryClient, conversationId)
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
