import { z } from 'zod'
import { listedConversation } from './conversation.ts'
import { SENDER_ROLES } from './sender-roles.ts'

export const MAX_SEARCH_LENGTH = 200

/** Part of a snippet; a hit is matching text in the spelling of the message. */
const snippetPart = z.object({ text: z.string(), is_hit: z.boolean() })
export type SnippetPart = z.infer<typeof snippetPart>

/** A message that contains all words of a search. */
export const foundMessage = z.object({
  message_id: z.uuid(),
  conversation_id: z.uuid(),
  position: z.int(),
  sender_role: z.union([z.literal(SENDER_ROLES.user), z.literal(SENDER_ROLES.assistant)]),
  created_at: z.string(),
  title: z.string().nullable(),
  snippet: z.array(snippetPart),
})
export type FoundMessage = z.infer<typeof foundMessage>

/** The best passage of a document that contains words of a search. Offsets are in UTF-16 code units of the page. */
const foundPassage = z.object({
  document_id: z.uuid(),
  page: z.int().positive(),
  start: z.int().nonnegative(),
  end: z.int().nonnegative(),
  snippet: z.array(snippetPart),
})
export type FoundPassage = z.infer<typeof foundPassage>

/** Answer of `GET /api/search/documents`, best first. */
export const documentSearchAnswer = z.object({ passages: z.array(foundPassage) })

/** Answer of `GET /api/search`, newest message first. */
export const searchAnswer = z.object({ messages: z.array(foundMessage) })

/** Answer of `GET /api/search/conversations`: the newest whose titles contain all words of the search. */
export const conversationSearchAnswer = z.object({ conversations: z.array(listedConversation) })
