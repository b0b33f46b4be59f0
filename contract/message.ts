import { z } from 'zod'
import { source } from './source.ts'

/** Who speaks: the small integers of the `messages` table. */
export const SENDER_ROLES = { user: 1, assistant: 2, tool: 3 } as const

/** Why a reply failed, as an assistant row and a live `error` part carry it. */
export const replyError = z.object({ code: z.string(), message: z.string(), retryable: z.boolean() })
export type ReplyError = z.infer<typeof replyError>

/** What `metadata` of a message may hold; unknown keys are kept. */
export const messageMetadata = z.looseObject({
  model: z.string().optional(),
  sources: z.array(source).optional(),
  error: replyError.optional(),
  stopped: z.boolean().optional(),
  tool_name: z.string().optional(),
  duration_ms: z.number().optional(),
  /** How a tool's run ended. */
  status: z.enum(['done', 'failed']).optional(),
})

/** A row of `messages`. `position` is the order that the database assigned; `created_at` is only shown. */
export const messageRow = z.object({
  id: z.uuid(),
  conversation_id: z.uuid(),
  content: z.string(),
  sender_role: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  token_in: z.int().nullable(),
  token_out: z.int().nullable(),
  created_at: z.string(),
  metadata: messageMetadata.nullable(),
  position: z.int(),
})
export type MessageRow = z.infer<typeof messageRow>

/** Body of `POST /api/conversations/{id}/messages`. The id is optional; a repeat with equal content returns the stored row. */
export const newMessage = z.object({
  id: z.uuid().optional(),
  content: z.string().min(1).max(200_000),
  senderRole: z.union([z.literal(1), z.literal('user')]).default(1),
  tokenIn: z.int().nonnegative().nullish(),
  tokenOut: z.int().nonnegative().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})
export type NewMessage = z.input<typeof newMessage>
