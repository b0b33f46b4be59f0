import { z } from 'zod'
import { replyError } from './message.ts'
import { source } from './source.ts'
import { toolRequest } from './tool-server.ts'

/** The broadcast event that carries a reply's parts on the private channel `conversation:{id}`. */
export const REPLY_EVENT = 'reply'

/** Name of the `tool` part that tells of a summary being made of what the model's window cannot hold. */
export const SUMMARY_STEP = 'summary'

/** Name of the one that tells of documents being waited for, which are still being read. */
export const READING_STEP = 'reading'

export const conversationTopic = (conversationId: string): string => `conversation:${conversationId}`

/**
 * One part of a reply while it is written. Parts of one reply are ordered by (attempt, seq) without gaps; `restart`
 * begins a new attempt and replaces everything that was shown.
 */
export const replyPart = z.object({
  /** Of its broadcast. */
  id: z.uuid().optional(),
  replyId: z.uuid(),
  messageId: z.uuid(),
  attempt: z.int().positive(),
  seq: z.int().nonnegative(),
  type: z.enum(['text', 'reasoning', 'tool', 'source', 'restart', 'stopped', 'done', 'error']),
  text: z.string().optional(),
  tool: z
    .object({
      name: z.string(),
      status: z.string(),
      durationMs: z.number().optional(),
      content: z.string().optional(),
      /** Tells the runs of one attempt apart: later parts of a run take the place of earlier ones. */
      run: z.int().nonnegative().optional(),
      /** With the status `asking`: what the person is asked to allow. */
      request: toolRequest.optional(),
    })
    .optional(),
  source: source.optional(),
  error: replyError.optional(),
})
export type ReplyPart = z.infer<typeof replyPart>

/** Answer of `GET /api/conversations/{id}/reply` while a reply is being written (204 when none is). */
export const replyInProgress = z.object({
  replyId: z.uuid(),
  messageId: z.uuid(),
  attempt: z.int().nonnegative(),
  seq: z.int(),
  parts: z.array(replyPart),
})
export type ReplyInProgress = z.infer<typeof replyInProgress>
