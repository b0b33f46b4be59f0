import { z } from 'zod'
import { SENDER_ROLES } from './sender-roles.ts'

/** A cited passage. Offsets are UTF-16 code units of the page. `score` is no probability; 0 if nothing was searched. */
const passageSource = z.object({
  n: z.int().positive(),
  documentId: z.uuid(),
  filename: z.string(),
  /** Missing in sources of old answers. */
  mimetype: z.string().optional(),
  /** A passage never crosses a page: documents are split into passages page by page (`server/search/index/document-terms.ts`). */
  page: z.int().positive(),
  start: z.int().nonnegative(),
  end: z.int().nonnegative(),
  text: z.string(),
  /** The range of each marker of the answer in order, unless all refer to `start` to `end`. */
  cited: z.array(z.object({ start: z.int().nonnegative(), end: z.int().nonnegative() })).optional(),
  score: z.number(),
  /** Enclosing headings, the highest first. */
  heading: z.string().nullable().optional(),
  /** The column titles, if the passage is one row of a table. */
  titles: z.string().optional(),
})
export type PassageSource = z.infer<typeof passageSource>

/** A cited web page; `text` is its beginning or a snippet of the search engine. */
const webSource = z.object({
  n: z.int().positive(),
  address: z.url({ protocol: /^https?$/ }),
  title: z.string(),
  text: z.string(),
})
export type WebSource = z.infer<typeof webSource>

/** A cited message of an earlier conversation. `text` omits citation markers, which refer to that message's sources. */
const messageSource = z.object({
  n: z.int().positive(),
  messageId: z.uuid(),
  conversationId: z.uuid(),
  position: z.int(),
  /** Title of the conversation. */
  title: z.string().nullable(),
  senderRole: z.union([z.literal(SENDER_ROLES.user), z.literal(SENDER_ROLES.assistant)]),
  createdAt: z.string(),
  text: z.string(),
  score: z.number(),
})
export type MessageSource = z.infer<typeof messageSource>

/** The target of a citation marker `[n]`. */
export const source = z.union([passageSource, webSource, messageSource])
export type Source = z.infer<typeof source>

export const isWebSource = (given: Source): given is WebSource => 'address' in given
export const isPassageSource = (given: Source): given is PassageSource => 'documentId' in given
export const isMessageSource = (given: Source): given is MessageSource => 'messageId' in given
