import { z } from 'zod'

/** A row of `conversations`, as every wire of the product carries it. */
export const conversationRow = z.object({
  id: z.uuid(),
  uid: z.uuid(),
  title: z.string().nullable(),
  model_name: z.string(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  pinned: z.boolean(),
})
export type ConversationRow = z.infer<typeof conversationRow>

/** What a client may give for a new conversation. */
export const newConversation = z.object({
  id: z.uuid().optional(),
  uid: z.uuid().optional(),
  title: z.string().max(500).nullish(),
  model_name: z.string().min(1).max(200),
  started_at: z.iso.datetime({ offset: true }).optional(),
  ended_at: z.iso.datetime({ offset: true }).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})
export type NewConversation = z.infer<typeof newConversation>

/** What a client may change on a conversation of its own. */
export const conversationPatch = newConversation.omit({ id: true, uid: true }).extend({ pinned: z.boolean() }).partial()
export type ConversationPatch = z.infer<typeof conversationPatch>
