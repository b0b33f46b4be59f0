import { z } from 'zod'
import { type ReplyPart } from '#contract/reply-events.ts'
import { type ToolRun } from '#server/assistant/tools/outcome.ts'

const claimedQuestion = z.object({
  id: z.guid(),
  messageId: z.guid(),
  conversationId: z.guid(),
  owner: z.guid(),
  answerId: z.guid(),
  /** `rewrite` asks for another version of an existing answer, `continue` for the rest of it. */
  kind: z.enum(['answer', 'rewrite', 'continue']),
  /** Null: the model of the conversation. */
  modelName: z.string().nullable(),
  attempt: z.int(),
  /** Number of workers that began it since it was asked or retried, this one included. */
  tries: z.int(),
  /** False: the person has no providers to look up. */
  hasOwnProviders: z.boolean(),
  /** Whether the person stopped it before it was claimed. */
  stopRequested: z.boolean(),
})

/** A question that this worker may answer while `attempt` is the newest. */
export interface ClaimedReply extends Readonly<z.infer<typeof claimedQuestion>> {
  /**
   * Resolves when the claim would survive a crash of PostgreSQL; rejects where it may be lost. Writers wait for it, since
   * another
   * worker might otherwise get an equal attempt number.
   */
  readonly durable: Promise<void>
}

export function parseClaim(json: string, durable: Promise<void>): ClaimedReply {
  // Rejections are handled by `await reply.durable`.
  durable.catch(() => undefined)
  return { ...claimedQuestion.parse(JSON.parse(json)), durable }
}

export interface FinishedAnswer {
  /** The complete text, including the part that a continuation started from. */
  readonly content: string
  readonly hasNewText: boolean
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly metadata: Readonly<Record<string, unknown>>
  /** Number of tool runs in this answer; undefined leaves the stored ones unchanged. */
  readonly toolRuns?: number | undefined
  /** Runs to store with it, by number. */
  readonly unstoredRuns?: ReadonlyMap<number, ToolRun> | undefined
  readonly state: 'done' | 'failed' | 'stopped'
  /** The last live part, which tells viewers that the reply has ended. */
  readonly lastPart: ReplyPart
}
