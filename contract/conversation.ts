import { z } from 'zod'

/** A row of `conversations`, as every wire of the product carries it. Metadata that is no object hides no row. */
export const conversationRow = z.object({
  id: z.uuid(),
  uid: z.uuid(),
  title: z.string().nullable(),
  model_name: z.string(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable().catch(null),
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

/**
 * Body of `POST /api/conversations/{id}/branch`: a new conversation that shares everything before that message of the
 * person and goes on with `content` in its place. Made by the client, the ids let a repeat find what the first call made.
 */
export const newBranch = z.object({
  id: z.uuid().optional(),
  message_id: z.uuid(),
  new_message_id: z.uuid().optional(),
  content: z.string().trim().min(1).max(200_000),
  /** Absent: the model of the conversation that is left. */
  model_name: z.string().min(1).max(200).optional(),
})
export type NewBranch = z.infer<typeof newBranch>

/** Body of `POST /api/conversations/{id}/messages/{messageId}/regenerate`. Absent: the conversation's model. */
export const regeneration = z.object({ model_name: z.string().min(1).max(200).optional() })
