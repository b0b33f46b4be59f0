import { z } from 'zod'
import { SENDER_ROLES } from './sender-roles.ts'
import { source } from './source.ts'
import { retrievalTrace } from './trace.ts'

/** Why a reply failed, as an assistant row and a live `error` part carry it. */
export const replyError = z.object({ code: z.string(), message: z.string(), retryable: z.boolean() })
export type ReplyError = z.infer<typeof replyError>

/** `begun`: from the request to the model to its first part. */
export const answerStep = z.object({ name: z.enum(['found', 'tools', 'begun', 'written', 'checked']), ms: z.number() })
export type AnswerStep = z.infer<typeof answerStep>

/** What `metadata` of a message may hold; unknown keys are kept. */
export const messageMetadata = z.looseObject({
  model: z.string().optional(),
  sources: z.array(source).optional(),
  /** Of a question: the documents that it is to be answered from; all where there are none. */
  documentIds: z.array(z.uuid()).max(200).optional(),
  /** Of an answer: how its passages were found. */
  trace: retrievalTrace.optional(),
  /** Of an answer: quotations that do not stand word for word in the source that they are attributed to, as written. */
  misquotes: z.array(z.string()).optional(),
  /** Documents were searched for the answer, and it cites no source. */
  unsupported: z.boolean().optional(),
  /** So many documents of those that it is to be answered from were still being read, and are not in it. */
  unread: z.int().positive().optional(),
  /** What writing the answer took, in the order in which it was done. */
  steps: z.array(answerStep).optional(),
  error: replyError.optional(),
  stopped: z.boolean().optional(),
  /** What the model thought before and while it answered, where it shows that. */
  reasoning: z.string().optional(),
  /** Of the row of `conversation_summaries` that stood for the beginning of the conversation. */
  summary: z.uuid().optional(),
  /** The provider ended the answer at its limit of length. */
  cut: z.boolean().optional(),
  /** Counts the writings of this answer, 1 where absent; those before it are in `message_versions`. */
  version: z.int().positive().optional(),
  /** The attempt that wrote it: live parts of this one and of earlier ones are in it already. */
  attempt: z.int().positive().optional(),
  /** Why the last wish for another version, or for more, came to nothing; the answer is as it was. */
  rewrite_error: replyError.optional(),
  tool_name: z.string().optional(),
  duration_ms: z.number().optional(),
  /** How a tool's run ended. */
  status: z.enum(['done', 'failed']).optional(),
})

/**
 * A row of `messages`. `position` is the order that the database assigned; `created_at` is only shown. Metadata of
 * another shape, which outside programs may write, hides no row.
 */
export const messageRow = z.object({
  id: z.uuid(),
  conversation_id: z.uuid(),
  content: z.string(),
  sender_role: z.union([z.literal(SENDER_ROLES.user), z.literal(SENDER_ROLES.assistant), z.literal(SENDER_ROLES.tool)]),
  token_in: z.int().nullable(),
  token_out: z.int().nullable(),
  created_at: z.string(),
  metadata: messageMetadata.nullable().catch(null),
  position: z.int(),
})
export type MessageRow = z.infer<typeof messageRow>

/** Body of `POST /api/conversations/{id}/messages`. The id is optional; a repeat with equal content returns the stored row. */
export const newMessage = z.object({
  id: z.uuid().optional(),
  content: z.string().min(1).max(200_000),
  senderRole: z.union([z.literal(SENDER_ROLES.user), z.literal('user')]).default(SENDER_ROLES.user),
  tokenIn: z.int().nonnegative().nullish(),
  tokenOut: z.int().nonnegative().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})
export type NewMessage = z.input<typeof newMessage>
