import { z } from 'zod'
import { SENDER_ROLES } from './sender-roles.ts'

/**
 * A passage of a document that an answer rests on. `start` and `end` count UTF-16 code units in the text of that page
 * (`GET /api/documents/{id}/pages/{page}`); `score` is the retrieval's own, not a probability, and 0 where a document was read
 * without a search.
 */
const passageSource = z.object({
  n: z.int().positive(),
  documentId: z.uuid(),
  filename: z.string(),
  /** Of the document; sources of former answers lack it. */
  mimetype: z.string().optional(),
  page: z.int().positive(),
  start: z.int().nonnegative(),
  end: z.int().nonnegative(),
  text: z.string(),
  /** What each marker of the answer speaks of, in their order, where they do not all speak of `start` to `end`. */
  cited: z.array(z.object({ start: z.int().nonnegative(), end: z.int().nonnegative() })).optional(),
  score: z.number(),
  /** The headings that it stands below, the highest first. */
  heading: z.string().nullable().optional(),
  /** The rows of column titles above it, where it is one row of a table. */
  titles: z.string().optional(),
})
export type PassageSource = z.infer<typeof passageSource>

/** A page of the web that an answer rests on; `text` is its beginning, or what a search engine quotes of it. */
const webSource = z.object({
  n: z.int().positive(),
  address: z.url({ protocol: /^https?$/ }),
  title: z.string(),
  text: z.string(),
})
export type WebSource = z.infer<typeof webSource>

/**
 * What was said in a conversation of the same person, as far as an answer rests on it. `text` is without the markers of
 * the answer that it is from, which point to sources of that one.
 */
const messageSource = z.object({
  n: z.int().positive(),
  messageId: z.uuid(),
  conversationId: z.uuid(),
  /** Of the message, in the order of the database. */
  position: z.int(),
  /** Of the conversation. */
  title: z.string().nullable(),
  senderRole: z.union([z.literal(SENDER_ROLES.user), z.literal(SENDER_ROLES.assistant)]),
  createdAt: z.string(),
  text: z.string(),
  score: z.number(),
})
export type MessageSource = z.infer<typeof messageSource>

/** What the marker `[n]` of an answer stands for. */
export const source = z.union([passageSource, webSource, messageSource])
export type Source = z.infer<typeof source>

export const isWebSource = (given: Source): given is WebSource => 'address' in given
export const isPassageSource = (given: Source): given is PassageSource => 'documentId' in given
export const isMessageSource = (given: Source): given is MessageSource => 'messageId' in given
