import { z } from 'zod'
import { replyError } from './message.ts'
import { source } from './source.ts'
import { toolRequest } from './tool-server.ts'

/** The broadcast event that carries a reply's parts on the private channel `conversation:{id}`. */
export const REPLY_EVENT = 'reply'

/** Name of the `tool` part while earlier messages are summarised to fit the model's window. */
export const SUMMARY_STEP = 'summary'

/** Name of the `tool` part while the reply waits for documents that are being read. */
export const READING_STEP = 'reading'

/** Name of the `tool` part while the model is asked for other words and they are searched for. */
export const OTHER_WORDS_STEP = 'other words'

export const conversationTopic = (conversationId: string): string => `conversation:${conversationId}`

/**
 * Parts of a reply are ordered by (attempt, seq) without gaps; `restart` begins an attempt that replaces the last.
 * `thought`: the text after its own `text` turned out to be reasoning.
 */
export const replyPart = z.object({
  /** Id of the broadcast. */
  id: z.uuid().optional(),
  replyId: z.uuid(),
  messageId: z.uuid(),
  attempt: z.int().positive(),
  seq: z.int().nonnegative(),
  type: z.enum(['text', 'reasoning', 'tool', 'source', 'restart', 'thought', 'stopped', 'done', 'error']),
  text: z.string().optional(),
  tool: z
    .object({
      name: z.string(),
      status: z.string(),
      durationMs: z.number().optional(),
      content: z.string().optional(),
      /** Identifies a run within an attempt. Later parts of a run replace earlier ones. */
      run: z.int().nonnegative().optional(),
      /** Only with the status `asking`. */
      request: toolRequest.optional(),
    })
    .optional(),
  source: source.optional(),
  error: replyError.optional(),
})
export type ReplyPart = z.infer<typeof replyPart>

/**
 * Answer of `GET /api/conversations/{id}/reply` while a reply is being written (204 when none is). With
 * `?replyId=&attempt=&seq=` of the last known part: without the parts of that attempt up to it.
 */
export const replyInProgress = z.object({
  replyId: z.uuid(),
  messageId: z.uuid(),
  attempt: z.int().nonnegative(),
  seq: z.int(),
  parts: z.array(replyPart),
})
export type ReplyInProgress = z.infer<typeof replyInProgress>
