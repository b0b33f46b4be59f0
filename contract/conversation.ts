import { z } from 'zod'

/** A row of `conversations` in all APIs. Invalid metadata does not make a row invalid. */
export const conversationRow = z.object({
  id: z.uuid(),
  /** Null: the account of the author of a shared conversation is gone. */
  uid: z.uuid().nullable(),
  title: z.string().nullable(),
  model_name: z.string(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable().catch(null),
  pinned: z.boolean(),
  /** Null: personal. */
  space_id: z.uuid().nullish(),
  /** With the members of its space. */
  is_shared: z.boolean().optional(),
})
export type ConversationRow = z.infer<typeof conversationRow>

/** A row of a list of conversations: small, whatever the metadata holds. */
export const listedConversation = conversationRow
  .pick({
    id: true,
    uid: true,
    title: true,
    model_name: true,
    started_at: true,
    pinned: true,
    space_id: true,
    is_shared: true,
  })
  .extend({ branched_from: z.uuid().nullable().catch(null) })
export type ListedConversation = z.infer<typeof listedConversation>

export const newConversation = z.object({
  id: z.uuid().optional(),
  uid: z.uuid().optional(),
  title: z.string().max(500).nullish(),
  model_name: z.string().min(1).max(200),
  started_at: z.iso.datetime({ offset: true }).optional(),
  ended_at: z.iso.datetime({ offset: true }).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  space_id: z.uuid().nullish(),
})
export type NewConversation = z.infer<typeof newConversation>

export const conversationPatch = newConversation
  .omit({ id: true, uid: true, space_id: true })
  .extend({ pinned: z.boolean(), is_shared: z.boolean() })
  .partial()
export type ConversationPatch = z.infer<typeof conversationPatch>

/**
 * Body of `POST /api/conversations/{id}/branch`: a new conversation that shares everything before a message of the person
 * and continues with `content`. Ids from the client make repeated calls idempotent.
 */
export const newBranch = z.object({
  id: z.uuid().optional(),
  message_id: z.uuid(),
  new_message_id: z.uuid().optional(),
  content: z.string().trim().min(1).max(200_000),
  /** Defaults to the model of the original conversation. */
  model_name: z.string().min(1).max(200).optional(),
})
export type NewBranch = z.infer<typeof newBranch>

/** Body of `POST /api/conversations/{id}/messages/{messageId}/regenerate`. Defaults to the conversation's model. */
export const regeneration = z.object({ model_name: z.string().min(1).max(200).optional() })
