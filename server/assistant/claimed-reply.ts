/** What passes between the queue of questions and whoever answers one. */
import { type ReplyPart } from '#contract/reply-events.ts'

/** A question that this worker may answer, as long as `attempt` is the newest. */
export interface ClaimedReply {
  readonly id: string
  readonly messageId: string
  readonly conversationId: string
  readonly owner: string
  readonly answerId: string
  /** `rewrite` and `continue`: there is an answer already, of which another version or the rest is wanted. */
  readonly kind: 'answer' | 'rewrite' | 'continue'
  /** Of this one version; null: the conversation's. */
  readonly modelName: string | null
  readonly attempt: number
  /** How many workers have begun on it, this one included, since it was asked or asked again. */
  readonly tries: number
  /** Whether the owner has connected any: nothing is looked for where there is nothing. */
  readonly hasOwnProviders: boolean
  /** The person asked to stop it before it was claimed. */
  readonly stopRequested: boolean
  /**
   * Resolves when the claim would survive a crash of PostgreSQL: before that another worker might come to the same attempt,
   * so nothing is written under it: `Replies` and `ReplyLog` wait. Rejects where it may be lost.
   */
  readonly holds: Promise<void>
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
  readonly state: 'done' | 'failed' | 'stopped'
  /** The last live part, which tells viewers that no more will come. */
  readonly lastPart: ReplyPart
}
