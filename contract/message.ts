import { z } from 'zod'
import { SENDER_ROLES } from './sender-roles.ts'
import { source } from './source.ts'
import { retrievalTrace } from './trace.ts'

/** Why a reply failed, in an assistant row or a live `error` part. */
export const replyError = z.object({ code: z.string(), message: z.string(), retryable: z.boolean() })
export type ReplyError = z.infer<typeof replyError>

/** `begun`: from the request to the model until its first part. */
export const answerStep = z.object({ name: z.enum(['found', 'tools', 'begun', 'written', 'checked']), ms: z.number() })
export type AnswerStep = z.infer<typeof answerStep>

/** A figure, date or name of an answer that is in none of the passages cited for it; `start` is a UTF-16 offset in `content`. */
export const unverifiedClaim = z.object({ start: z.int().nonnegative(), text: z.string().max(200) })
export type UnverifiedClaim = z.infer<typeof unverifiedClaim>

/** Versions of one answer before the newest; the oldest makes room for a further one. */
export const MAX_EARLIER_VERSIONS = 50

/** `messages.metadata`; unknown keys are preserved. */
export const messageMetadata = z.looseObject({
  model: z.string().optional(),
  sources: z.array(source).optional(),
  /** Questions only: the documents to answer from; all if absent. */
  documentIds: z.array(z.uuid()).max(200).optional(),
  /** Questions only: the IANA time zone whose days "yesterday" and the like name; the server's if absent. */
  timeZone: z.string().optional(),
  /** Questions in a space only: the documents of the asker's own library are searched as well. */
  ownDocuments: z.boolean().optional(),
  /** Answers only. */
  trace: retrievalTrace.optional(),
  /** Answers only: quotations that are not verbatim in their source. */
  misquotes: z.array(z.string()).optional(),
  /** Answers only, in the order of the text. */
  unverified: z.array(unverifiedClaim).max(100).optional(),
  /** Documents were searched, but the answer cites no source. */
  unsupported: z.boolean().optional(),
  /** Number of documents that were not read yet and are missing from the answer. */
  unread: z.int().positive().optional(),
  /** Durations in chronological order. */
  steps: z.array(answerStep).optional(),
  error: replyError.optional(),
  stopped: z.boolean().optional(),
  reasoning: z.string().optional(),
  /** Row of `conversation_summaries` that replaced the beginning of the conversation in the prompt. */
  summary: z.uuid().optional(),
  /** The answer reached the provider's output limit. */
  cut: z.boolean().optional(),
  /** The provider's content filter ended the answer. */
  filtered: z.boolean().optional(),
  /** Version of this answer, 1 if absent. Earlier versions are in `message_versions`. */
  version: z.int().positive().optional(),
  /** The attempt that wrote the answer, which includes all live parts up to this attempt. */
  attempt: z.int().positive().optional(),
  /** Why the last regeneration or continuation failed; the answer is unchanged. */
  rewrite_error: replyError.optional(),
  tool_name: z.string().optional(),
  /** Searches only: the addresses of the results. */
  addresses: z.array(z.string()).optional(),
  duration_ms: z.number().optional(),
  status: z.enum(['done', 'failed']).optional(),
})

/** A row of `messages`, ordered by `position`. Invalid metadata, which other programs may write, becomes null. */
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
  /** The person who asked. Null: for an answer, once the account is gone, or in a personal conversation its owner. */
  author: z.uuid().nullish(),
})
export type MessageRow = z.infer<typeof messageRow>

/** Body of `POST /api/conversations/{id}/messages`. A repeat with the same id and content returns the stored row. */
export const newMessage = z.object({
  id: z.uuid().optional(),
  content: z.string().min(1).max(200_000),
  senderRole: z.union([z.literal(SENDER_ROLES.user), z.literal('user')]).default(SENDER_ROLES.user),
  tokenIn: z.int().nonnegative().nullish(),
  tokenOut: z.int().nonnegative().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})
export type NewMessage = z.input<typeof newMessage>
