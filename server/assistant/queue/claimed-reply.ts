/** A claimed question, and the finished answer to it. */
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
  /** The model of this version; null: the conversation's. */
  modelName: z.string().nullable(),
  attempt: z.int(),
  /** How many workers have begun on it, this one included, since it was asked or asked again. */
  tries: z.int(),
  /** Without personal providers none are looked up. */
  hasOwnProviders: z.boolean(),
  /** The person asked to stop it before it was claimed. */
  stopRequested: z.boolean(),
})

/** A question that this worker may answer, as long as `attempt` is the newest. */
export interface ClaimedReply extends Readonly<z.infer<typeof claimedQuestion>> {
  /**
   * Resolves when the claim would survive a crash of PostgreSQL: before that another worker might come to the same attempt,
   * so nothing is written under it: `Replies` and `ReplyLog` wait. Rejects where it may be lost.
   */
  readonly durable: Promise<void>
}

/** Parses the claim that direct dispatch passes to this process. */
export function parseClaim(json: string, durable: Promise<void>): ClaimedReply {
  // Handled by `await reply.durable`.
  durable.catch(() => undefined)
  return { ...claimedQuestion.parse(JSON.parse(json)), durable }
}

export interface FinishedAnswer {
  /** All of it, what was there before included. */
  readonly content: string
  /** Whether this attempt wrote anything. */
  readonly hasNewText: boolean
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly metadata: Readonly<Record<string, unknown>>
  /** How many runs of tools this answer has; undefined: those that are stored stay as they are. */
  readonly toolRuns?: number | undefined
  /** Runs that are stored with it, under their numbers. */
  readonly unstoredRuns?: ReadonlyMap<number, ToolRun> | undefined
  readonly state: 'done' | 'failed' | 'stopped'
  /** The last live part, which tells viewers that no more will come. */
  readonly lastPart: ReplyPart
}
